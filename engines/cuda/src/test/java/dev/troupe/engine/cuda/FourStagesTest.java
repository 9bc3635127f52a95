package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.engine.cuda.ptx.InterpretedDevice;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorShare;
import dev.troupe.partition.Partition;
import dev.troupe.shard.StateTensor;
import dev.troupe.stage.Recompute;
import dev.troupe.stage.Stage;
import dev.troupe.stage.StageSettings;
import dev.troupe.weights.huggingface.HuggingFaceModel;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A GPT-2 of eight blocks with dropout, trained by stages that each have an engine on one device of the interpreter, and
 * hand tensors to each other there.
 */
@ExtendWith(DrawnOrders.class)
@Tag("parity")
@Dealt(3)
class FourStagesTest {
    private static final int MICROBATCHES = 2;
    private static final int MICROBATCH_SIZE = 1;
    private static final int SEQUENCE_LENGTH = 8;
    private static final int VOCABULARY = 50;
    private static final double LEARNING_RATE = 1e-2;
    private static final double DROPOUT = 0.1;
    private static final Map<DataType, Trained> OF_ONE_STAGE = new ConcurrentHashMap<>();

    /** The results of training: losses, squared sums of gradients, and all weights by name. */
    private record Trained(List<Double> losses, List<Double> squaredSums, Map<String, byte[]> weights) {
        void assertSameBits(Trained other) {
            assertEquals(losses, other.losses);
            assertEquals(squaredSums, other.squaredSums);
            assertEquals(weights.keySet(), other.weights.keySet());
            weights.forEach((name, bytes) -> assertArrayEquals(bytes, other.weights.get(name), name));
        }

        /** Losses and squared sums equal another training's within a relative error. */
        void assertNear(Trained expected, double lossRoom, double sumRoom) {
            for (int i = 0; i < expected.losses.size(); i++) {
                assertEquals(expected.losses.get(i), losses.get(i), lossRoom * expected.losses.get(i), "loss " + i);
            }
            for (int i = 0; i < expected.squaredSums.size(); i++) {
                assertEquals(expected.squaredSums.get(i), squaredSums.get(i), sumRoom * expected.squaredSums.get(i),
                        "squared sum " + i);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = DataType.class, names = {"FLOAT32", "BFLOAT16"})
    void shouldGiveTheBitsOfOneStage(DataType computeType) throws IOException, URISyntaxException {
        InterpretedDevice device = Interpreted.device();
        ofOneStage(computeType)
                .assertSameBits(train(4, () -> Interpreted.on(device, computeType)));
    }

    /** In bfloat16 the library takes only products without a bias. */
    @ParameterizedTest
    @EnumSource(value = DataType.class, names = {"FLOAT32", "BFLOAT16"})
    void shouldGiveTheBitsOfOneStageWithCublasLt(DataType computeType) throws IOException, URISyntaxException {
        InterpretedDevice device = Interpreted.lateDevice();
        Trained one = train(1, () -> Interpreted.withCublasLt(Interpreted.device(), computeType));
        one.assertSameBits(train(2, () -> Interpreted.withCublasLt(device, computeType)));
        Trained expected = ofOneStage(computeType);
        assertNotEquals(expected.squaredSums, one.squaredSums, "the library has computed nothing");
        double room = computeType == DataType.FLOAT32 ? 1e-5 : 1e-2;
        one.assertNear(expected, room, 100 * room);
    }

    @Test
    void shouldGiveTheBitsOfOneStageOnALateDevice() throws IOException, URISyntaxException {
        InterpretedDevice device = Interpreted.lateDevice();
        ofOneStage(DataType.FLOAT32)
                .assertSameBits(train(4, () -> Interpreted.on(device, DataType.FLOAT32)));
    }

    @Test
    void shouldTrainLikeTheReference() throws IOException, URISyntaxException {
        Trained expected = train(1, () -> new ReferenceEngine(DataType.FLOAT32));
        Trained found = ofOneStage(DataType.FLOAT32);
        found.assertNear(expected, 1e-5, 1e-3);
    }

    /** The results of one stage with the engine's own products. */
    private static Trained ofOneStage(DataType computeType) throws IOException, URISyntaxException {
        Trained known = OF_ONE_STAGE.get(computeType);
        if (known == null) {
            known = train(1, () -> Interpreted.engine(computeType));
            OF_ONE_STAGE.put(computeType, known);
        }
        return known;
    }

    private static Trained train(int stageCount, Supplier<Engine> engines) throws IOException, URISyntaxException {
        Path directory = Path.of(FourStagesTest.class.getResource("/goldens/gpt2-untied-sgd/model").toURI());
        HuggingFaceModel model = HuggingFaceModel.open(directory);
        Partition partition = Partition.uniform(model.spec(), stageCount);
        StageSettings settings = new StageSettings(MICROBATCH_SIZE, SEQUENCE_LENGTH, MICROBATCHES,
                new Optimizer.AdamW(0.9, 0.95, 1e-8, 0.1), Recompute.NONE, new DropoutSettings(DROPOUT, 3));
        List<Engine> opened = new ArrayList<>();
        List<Stage> stages = new ArrayList<>();
        for (int stage = 0; stage < stageCount; stage++) {
            opened.add(engines.get());
            stages.add(
                    Stage.create(opened.get(stage), partition, stage, settings, TensorShare.ALL, DataShare.ALL, model));
        }
        Trained trained = new Trained(new ArrayList<>(), new ArrayList<>(), new TreeMap<>());
        step(stages, opened, new Random(5), trained);
        for (int stage = 0; stage < stageCount; stage++) {
            for (StateTensor weight : stages.get(stage).weights()) {
                byte[] bytes = new byte[(int) weight.tensor().byteCount()];
                opened.get(stage).copyToHost(weight.tensor(), 0, MemorySegment.ofArray(bytes));
                trained.weights.put(weight.name(), bytes);
            }
        }
        stages.forEach(Stage::close);
        opened.forEach(Engine::close);
        return trained;
    }

    private static void step(List<Stage> stages, List<Engine> engines, Random tokens, Trained trained) {
        stages.forEach(stage -> stage.enterStep(0, 0));
        int last = stages.size() - 1;
        for (int microbatch = 0; microbatch < MICROBATCHES; microbatch++) {
            MicrobatchRows rows = new MicrobatchRows(ids(tokens), ids(tokens));
            Tensor crossing = null;
            for (int stage = 0; stage <= last; stage++) {
                Tensor output = stages.get(stage).forward(microbatch, crossing, rows);
                crossing = stage < last ? cross(output, stage, stage + 1, stages, engines) : null;
            }
            trained.losses.add(stages.get(last).loss(microbatch));
        }
        for (int microbatch = 0; microbatch < MICROBATCHES; microbatch++) {
            Tensor crossing = null;
            for (int stage = last; stage >= 0; stage--) {
                if (microbatch == MICROBATCHES - 1) {
                    stages.get(stage).lastBackwardFollows();
                }
                Tensor gradient = stages.get(stage).backward(microbatch, crossing);
                crossing = stage > 0 ? cross(gradient, stage, stage - 1, stages, engines) : null;
            }
        }
        for (Stage stage : stages) {
            stage.addUpGradients();
            stage.squaredSums((block, part, sum) -> trained.squaredSums.add(sum));
        }
        stages.forEach(stage -> {
            stage.optimizerStep(LEARNING_RATE, 1, 1);
            stage.unshard();
        });
    }

    private static int[] ids(Random tokens) {
        return tokens.ints(MICROBATCH_SIZE * SEQUENCE_LENGTH, 0, VOCABULARY).toArray();
    }

    /** Hands a tensor from one stage to another without the host, as the transport does. */
    private static Tensor cross(Tensor tensor, int from, int to, List<Stage> stages, List<Engine> engines) {
        Tensor landed = stages.get(to).boundary().take();
        engines.get(from).fence().await();
        engines.get(to).fence().await();
        engines.get(to).takeFrom(tensor, landed, 0, tensor.byteCount()).orElseThrow().await();
        stages.get(from).boundary().release(tensor);
        return landed;
    }
}
