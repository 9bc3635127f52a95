package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.parallel.TensorSlice;
import dev.troupe.partition.Partition;
import dev.troupe.shard.StateTensor;
import dev.troupe.stage.NaivePipeline.StepResult;
import dev.troupe.stage.TensorPipelines.Setup;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.SafeTensors;
import dev.troupe.weights.SafeTensorsWriter;
import dev.troupe.weights.ShardedWeights;
import dev.troupe.weights.SliceAssembly;
import dev.troupe.weights.TensorPart;
import dev.troupe.weights.WeightException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The state of ranks that share stages: in files of slices, whole again, and shared out another way. */
@Tag("parity")
class TensorStateTest {
    private static final double TOLERANCE = 1e-9;
    private static final ModelSpec MODEL = new Gpt2(2, 32, 4, 16, 67, true, Gpt2.NORM_EPSILON).spec();
    private static final Order ORDER = Order.ONE_FORWARD_ONE_BACKWARD;

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({"2, false, 2, 4, true, 1", "4, true, 1, 1, false, 3", "1, false, 2, 2, true, 2"})
    void shouldContinueUnderAnotherLayout(int size, boolean sequence, int stageCount, int otherSize,
            boolean otherSequence, int otherStageCount) {
        try (StageGolden golden = new StageGolden(StageGolden.TIED);
                TensorPipelines first = pipelines(golden, stageCount, size, sequence);
                TensorPipelines other = pipelines(golden, otherStageCount, otherSize, otherSequence)) {
            first.step(0, ORDER);
            Map<String, double[]> state = first.values(Stage::state);
            List<SafeTensors> files = write(first);
            ShardedWeights weights = ShardedWeights.of("the test", files);
            assertEquals(state.keySet(), weights.names());
            other.ranks.forEach(rank -> rank.stages.forEach(stage -> stage.load(weights)));
            files.forEach(SafeTensors::close);
            Map<String, double[]> loaded = other.values(Stage::state);
            state.forEach((name, values) -> assertArrayEquals(values, loaded.get(name), name));
            StepResult expected = first.step(1, ORDER);
            StepResult found = other.step(1, ORDER);
            assertEquals(expected.loss(), found.loss(), TOLERANCE * expected.loss());
            assertEquals(expected.norm(), found.norm(), TOLERANCE * expected.norm());
        }
    }

    @Test
    void shouldNameItsStateOnce() {
        try (StageGolden golden = new StageGolden(StageGolden.TIED);
                TensorPipelines shared = pipelines(golden, 2, 2, true)) {
            Stage stage = shared.ranks.getFirst().stages.getFirst();
            List<StateTensor> state = stage.state();
            shared.step(0, ORDER);
            assertTrue(state == stage.state(), "a snapshot after each update would make a new list of all tensors");
        }
    }

    @Test
    void shouldTakeBackTheSlicesOfItsOwn() {
        try (StageGolden golden = new StageGolden(StageGolden.TIED);
                TensorPipelines shared = pipelines(golden, 2, 2, true)) {
            List<Map<String, double[]>> saved = shared.ranks.stream().map(rank -> rank.values(Stage::state)).toList();
            shared.step(0, ORDER);
            for (int rank = 0; rank < 2; rank++) {
                Map<String, double[]> own = saved.get(rank);
                shared.ranks.get(rank).stages.forEach(stage -> stage.loadOwn(
                        (name, shape, type, target) -> target.copyFrom(MemorySegment.ofArray(own.get(name)))));
                Map<String, double[]> again = shared.ranks.get(rank).values(Stage::state);
                own.forEach((name, values) -> assertArrayEquals(values, again.get(name), name));
            }
        }
    }

    @Test
    void shouldPutGradientsOfAllRanksTogether() {
        try (StageGolden golden = new StageGolden(StageGolden.TIED);
                TensorPipelines shared = pipelines(golden, 2, 4, false)) {
            shared.gradients(0, ORDER);
            SliceAssembly assembly = new SliceAssembly();
            shared.ranks.forEach(rank -> rank.forEach(Stage::gradients, (named, values) -> {
                if (!named.copy()) {
                    assembly.add(new TensorPart(file(named, values), named.slice()));
                }
            }));
            Map<String, double[]> expected = shared.values(Stage::gradients);
            List<NamedTensor> whole = assembly.whole();
            assertEquals(expected.size(), whole.size());
            for (NamedTensor tensor : whole) {
                double[] values = new double[(int) tensor.shape().elementCount()];
                tensor.values().copyTo(MemorySegment.ofArray(values));
                assertArrayEquals(expected.get(tensor.name()), values, tensor.name());
            }
        }
    }

    @Test
    void shouldRefuseFilesThatAreNotAllOfThem() {
        try (StageGolden golden = new StageGolden(StageGolden.TIED);
                TensorPipelines shared = pipelines(golden, 1, 2, false)) {
            List<SafeTensors> files = write(shared);
            String missing = assertThrows(WeightException.class,
                    () -> ShardedWeights.of("the test", files.subList(0, 1))).getMessage();
            assertTrue(missing.contains("each of the ") && missing.contains("indices of dimension"), missing);
            List<SafeTensors> doubled = new ArrayList<>(files);
            doubled.add(files.getLast());
            assertThrows(WeightException.class, () -> ShardedWeights.of("the test", doubled));
            files.forEach(SafeTensors::close);
        }
    }

    private static TensorPipelines pipelines(StageGolden golden, int stageCount, int size, boolean sequence) {
        return new TensorPipelines(Setup.of(golden, new InitialWeights(MODEL, 3), 2),
                Partition.uniform(MODEL, stageCount), size, sequence);
    }

    /** Writes a file for each rank, as in a checkpoint. */
    private List<SafeTensors> write(TensorPipelines pipelines) {
        List<SafeTensors> files = new ArrayList<>();
        for (NaivePipeline rank : pipelines.ranks) {
            Map<String, TensorSlice> slices = new HashMap<>();
            List<NamedTensor> tensors = new ArrayList<>();
            rank.forEach(Stage::state, (named, values) -> {
                if (!named.copy()) {
                    slices.put(named.name(), named.slice());
                    tensors.add(file(named, values));
                }
            });
            Path file = directory.resolve("rank-" + files.size() + ".safetensors");
            SafeTensorsWriter.write(file, ShardedWeights.metadata(slices), tensors);
            files.add(SafeTensors.open(file));
        }
        return files;
    }

    private static NamedTensor file(StateTensor named, double[] values) {
        return NamedTensor.of(named.name(), named.tensor().shape(), DataType.FLOAT64, MemorySegment.ofArray(values));
    }
}
