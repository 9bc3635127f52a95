package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Membership;
import dev.troupe.collective.shared.SharedGroup;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.engine.cuda.ptx.InterpretedDevice;
import dev.troupe.engine.late.WrappedEngine;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorShare;
import dev.troupe.parallel.Zero;
import dev.troupe.partition.Partition;
import dev.troupe.rank.group.EngineGroup;
import dev.troupe.shard.StateTensor;
import dev.troupe.stage.Recompute;
import dev.troupe.stage.Stage;
import dev.troupe.stage.StageSettings;
import dev.troupe.weights.huggingface.HuggingFaceModel;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Ranks of tensor and data groups that are threads of this process, each with two stages and an engine on one device of the
 * interpreter, which does nothing before somebody waits.
 */
@ExtendWith(DrawnOrders.class)
@Tag("parity")
@Dealt(5)
class GroupsOnDeviceTest {
    private static final int MICROBATCHES = 2;
    private static final int SEQUENCE_LENGTH = 8;
    private static final int VOCABULARY = 50;
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    /** An engine with tensors that no other engine reaches, so that groups use the host. */
    private static Engine alone(Engine engine) {
        return WrappedEngine.of((method, arguments) -> method.getName().equals("reaches")
                ? (Object) false
                : WrappedEngine.call(engine, method, arguments));
    }

    /** The training of a grid's ranks. */
    private static final class Grid {
        private final int tensor;
        private final int data;
        private final Zero zero;
        private final boolean sequence;
        private final boolean onDevice;
        /** One for all ranks, or one for each. */
        private final List<InterpretedDevice> devices;
        private final DataType computeType;
        private final CyclicBarrier barrier;
        private final List<SharedGroup> tensorGroups;
        private final List<SharedGroup> dataGroups;
        private final Map<String, byte[]> weights = new TreeMap<>();
        private final List<Double> losses = new ArrayList<>();
        private int waits;
        private int copies;

        Grid(int tensor, int data, Zero zero, boolean sequence, DataType computeType, boolean onDevice) {
            this(tensor, data, zero, sequence, computeType, onDevice, List.of(Interpreted.lateDevice()));
        }

        Grid(int tensor, int data, Zero zero, boolean sequence, DataType computeType, boolean onDevice,
                List<InterpretedDevice> devices) {
            this.devices = devices;
            this.tensor = tensor;
            this.data = data;
            this.zero = zero;
            this.sequence = sequence;
            this.computeType = computeType;
            this.onDevice = onDevice;
            barrier = new CyclicBarrier(tensor * data);
            tensorGroups = groups(data, tensor);
            dataGroups = groups(tensor, data);
        }

        private static List<SharedGroup> groups(int count, int size) {
            return IntStream.range(0, count).mapToObj(group -> new SharedGroup(
                    new Membership("test", IntStream.range(0, size).boxed().toList(), DEADLINE))).toList();
        }

        Grid train() throws Exception {
            Path directory = Path.of(GroupsOnDeviceTest.class.getResource("/goldens/gpt2-untied-sgd/model").toURI());
            HuggingFaceModel model = HuggingFaceModel.open(directory);
            try (ExecutorService threads = Executors.newCachedThreadPool()) {
                List<Future<?>> ranks = new ArrayList<>();
                for (int rank = 0; rank < tensor * data; rank++) {
                    int own = rank;
                    ranks.add(threads.submit(() -> {
                        try {
                            play(own, model);
                        } catch (Throwable failure) {
                            barrier.reset();
                            throw new IllegalStateException("rank " + own, failure);
                        }
                        return null;
                    }));
                }
                for (Future<?> rank : ranks) {
                    rank.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
                }
            }
            return this;
        }

        private void play(int rank, HuggingFaceModel model) throws Exception {
            Engine own = Interpreted.on(devices.get(rank % devices.size()), computeType);
            // A rank that fails leaves its groups, so that no other waits for it.
            try (CollectiveGroup shards = tensorGroups.get(rank / tensor).join(rank % tensor, 0);
                    CollectiveGroup replicas = dataGroups.get(rank % tensor).join(rank / tensor, 0);
                    Engine engine = onDevice ? own : alone(own);
                    ExecutorService aside = Executors.newSingleThreadExecutor()) {
                TensorShare share = tensor == 1
                        ? TensorShare.ALL
                        : new TensorShare(new EngineGroup(shards, engine), sequence);
                DataShare holders = data == 1
                        ? DataShare.ALL
                        : new DataShare(new EngineGroup(replicas, engine), zero, aside::execute);
                Partition partition = Partition.uniform(model.spec(), 2);
                StageSettings settings = new StageSettings(1, SEQUENCE_LENGTH, MICROBATCHES * data,
                        new Optimizer.AdamW(0.9, 0.95, 1e-8, 0.1), Recompute.NONE, new DropoutSettings(0.1, 3));
                List<Stage> stages = new ArrayList<>();
                for (int stage = 0; stage < 2; stage++) {
                    stages.add(Stage.create(engine, partition, stage, settings, share, holders, model));
                }
                for (int step = 0; step < 2; step++) {
                    step(step, rank, engine, stages);
                }
                tell(rank, engine, stages);
                stages.forEach(Stage::close);
                barrier.await(DEADLINE.toSeconds(), TimeUnit.SECONDS); // others may still read this rank's tensors
            }
        }

        private void step(int step, int rank, Engine engine, List<Stage> stages) throws Exception {
            Stage first = stages.get(0);
            Stage last = stages.get(1);
            int place = rank / tensor;
            Random tokens = new Random(100 * step + place);
            stages.forEach(stage -> stage.enterStep(step, MICROBATCHES * place));
            stages.forEach(Stage::unshard);
            List<MicrobatchRows> rows = IntStream.range(0, MICROBATCHES)
                    .mapToObj(_ -> new MicrobatchRows(ids(tokens), ids(tokens))).toList();
            List<Tensor> crossing = new ArrayList<>();
            unhindered(rank, () -> {
                for (int microbatch = 0; microbatch < MICROBATCHES; microbatch++) {
                    crossing.add(cross(first.forward(microbatch, null, rows.get(microbatch)), engine, first, last));
                }
                for (int microbatch = 0; microbatch < MICROBATCHES; microbatch++) {
                    last.forward(microbatch, crossing.get(microbatch), rows.get(microbatch));
                }
                for (int microbatch = 0; microbatch < MICROBATCHES; microbatch++) {
                    if (microbatch == MICROBATCHES - 1) {
                        stages.forEach(Stage::lastBackwardFollows);
                    }
                    Tensor gradient = last.backward(microbatch, null);
                    first.backward(microbatch, cross(gradient, engine, last, first));
                }
                stages.forEach(Stage::addUpGradients);
            });
            for (Stage stage : stages) {
                stage.squaredSums((_, _, sum) -> note(rank, sum));
                stage.optimizerStep(1e-2, 1, step + 1);
            }
            stages.forEach(Stage::unshard);
            for (int microbatch = 0; microbatch < MICROBATCHES; microbatch++) {
                note(rank, last.loss(microbatch));
            }
        }

        /** Runs an action on all ranks at once, and counts the host's waits and copies from the device. */
        private void unhindered(int rank, Runnable work) throws Exception {
            barrier.await(DEADLINE.toSeconds(), TimeUnit.SECONDS);
            if (rank == 0) {
                waits -= devices.stream().mapToInt(InterpretedDevice::waits).sum();
                copies -= devices.stream().mapToInt(InterpretedDevice::copiesToHost).sum();
            }
            barrier.await(DEADLINE.toSeconds(), TimeUnit.SECONDS);
            work.run();
            barrier.await(DEADLINE.toSeconds(), TimeUnit.SECONDS);
            if (rank == 0) {
                waits += devices.stream().mapToInt(InterpretedDevice::waits).sum();
                copies += devices.stream().mapToInt(InterpretedDevice::copiesToHost).sum();
            }
            barrier.await(DEADLINE.toSeconds(), TimeUnit.SECONDS);
        }

        private void note(int rank, double number) {
            if (rank == 0) {
                losses.add(number);
            }
        }

        private void tell(int rank, Engine engine, List<Stage> stages) {
            for (Stage stage : stages) {
                for (StateTensor weight : stage.weights()) {
                    byte[] bytes = new byte[(int) weight.tensor().byteCount()];
                    engine.copyToHost(weight.tensor(), 0, MemorySegment.ofArray(bytes));
                    synchronized (weights) {
                        weights.put(rank + " " + weight.name(), bytes);
                    }
                }
            }
        }
    }

    private static Tensor cross(Tensor tensor, Engine engine, Stage from, Stage to) {
        Tensor landed = to.boundary().take();
        engine.copy(tensor, landed);
        from.boundary().release(tensor);
        return landed;
    }

    private static int[] ids(Random tokens) {
        return tokens.ints(SEQUENCE_LENGTH, 0, VOCABULARY).toArray();
    }

    @ParameterizedTest(name = "T={0} D={1} {2}, sequence {3}, {4}")
    @CsvSource({"2, 1, NONE, true, BFLOAT16", "1, 2, WEIGHTS, false, BFLOAT16", "2, 2, OPTIMIZER, true, FLOAT32"})
    void shouldGiveTheBitsOfGroupsOnTheHostWithoutIt(int tensor, int data, Zero zero, boolean sequence,
            DataType computeType) throws Exception {
        assertSameBits(tensor, data, zero, sequence, computeType);
    }

    @Tag("long")
    @ParameterizedTest(name = "T={0} D={1} {2}, sequence {3}, {4}")
    @CsvSource({"2, 1, NONE, false, FLOAT32", "1, 2, NONE, false, FLOAT32", "2, 2, GRADIENTS, false, BFLOAT16"})
    void shouldGiveTheBitsOfGroupsOnTheHostInOtherGrids(int tensor, int data, Zero zero, boolean sequence,
            DataType computeType)
            throws Exception {
        assertSameBits(tensor, data, zero, sequence, computeType);
    }

    private static void assertSameBits(int tensor, int data, Zero zero, boolean sequence, DataType computeType)
            throws Exception {
        assertSameBits(new Grid(tensor, data, zero, sequence, computeType, false).train(),
                new Grid(tensor, data, zero, sequence, computeType, true).train());
    }

    @Test
    void shouldGiveTheBitsOfGroupsOnTheHostOnDevicesThatReachEachOther() throws Exception {
        List<InterpretedDevice> devices = Interpreted.machine(2, List.of(Set.of(0, 1)));
        assertSameBits(new Grid(2, 1, Zero.NONE, true, DataType.FLOAT32, false).train(),
                new Grid(2, 1, Zero.NONE, true, DataType.FLOAT32, true, devices).train());
    }

    private static void assertSameBits(Grid expected, Grid found) {
        assertEquals(expected.losses, found.losses);
        assertEquals(expected.weights.keySet(), found.weights.keySet());
        expected.weights.forEach((name, bytes) -> assertArrayEquals(bytes, found.weights.get(name), name));
        assertTrue(expected.copies > 0 && expected.waits > 0, "groups on the host wait and copy");
        assertEquals(0, found.copies, "copies to the host");
        assertEquals(0, found.waits, "waits for the device");
    }
}
