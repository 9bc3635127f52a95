package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.offload.StateRegion;
import dev.troupe.offload.StateStore;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.Zero;
import dev.troupe.partition.Partition;
import dev.troupe.stage.TensorPipelines.Setup;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Moments in a store, read and written chunk by chunk, against the same moments in the memory of the engine. */
@Tag("parity")
class OffloadTest {
    /** A store in memory, with chunks much smaller than a stage's parameters. */
    private static final class Store implements StateStore {
        private final List<MemorySegment> open = new CopyOnWriteArrayList<>();

        @Override
        public long chunkElements() {
            return 320;
        }

        @Override
        public StateRegion open(long byteCount) {
            MemorySegment values = Arena.ofAuto().allocate(byteCount, Double.BYTES);
            open.add(values);
            return new StateRegion() {
                @Override
                public void read(long byteOffset, MemorySegment target) {
                    target.copyFrom(values.asSlice(byteOffset, target.byteSize()));
                }

                @Override
                public void write(long byteOffset, MemorySegment source) {
                    values.asSlice(byteOffset, source.byteSize()).copyFrom(source);
                }

                @Override
                public void close() {
                    open.remove(values);
                }
            };
        }
    }

    @ParameterizedTest(name = "{0} of {1}, {2} tensor-parallel ranks, {3} stages, momentum {4}, {5}")
    @CsvSource({"NONE, 1, 1, 1, 0, FLOAT64", "NONE, 2, 2, 2, 0, FLOAT64", "OPTIMIZER, 2, 2, 1, 0, FLOAT32",
            "GRADIENTS, 2, 1, 2, 0, FLOAT64", "WEIGHTS, 2, 2, 2, 0.9, FLOAT64", "NONE, 1, 2, 2, 0.9, FLOAT32"})
    void shouldComeToTheSameBits(Zero zero, int holders, int size, int stageCount, double momentum, DataType type) {
        ModelSpec model = new Gpt2(3, 32, 4, 16, 67, true, Gpt2.NORM_EPSILON).spec();
        Optimizer.OfElements rule = momentum > 0
                ? new Optimizer.Sgd(0.1, momentum, true)
                : new Optimizer.AdamW(0.9, 0.95, 1e-8, 0.1);
        Store store = new Store();
        Partition partition = Partition.uniform(model, stageCount);
        try (StageGolden inMemory = new StageGolden(StageGolden.TIED, _ -> rule);
                StageGolden stored = new StageGolden(StageGolden.TIED, _ -> new Optimizer.Stored(rule, store));
                TensorPipelines expected = pipelines(inMemory, model, type, partition, size, holders, zero);
                TensorPipelines found = pipelines(stored, model, type, partition, size, holders, zero)) {
            Training.assertSame(expected, found, Order.WHOLE_BACKWARDS, 0);
            assertEquals(size * holders * stageCount, store.open.size());
            long moments = store.open.stream().mapToLong(MemorySegment::byteSize).sum();
            long more = allocatedBytes(expected) - allocatedBytes(found);
            long staging = (momentum > 0 ? 1 : 2) * 320L * type.elementBytes() * store.open.size();
            assertEquals(moments - staging, more, "the moments of a chunk take memory");
            assertTrue(more > 0);
        }
        assertEquals(List.of(), store.open);
    }

    /** Inputs of blocks in a store: the bits of full recomputation, and only two inputs of a stage in memory. */
    @ParameterizedTest(name = "{0} of {1}, {2} tensor-parallel ranks, {3} stages, {4}, every {5}, {6} ahead, parts {7}")
    @CsvSource({"NONE, 1, 1, 1, ALL_FORWARDS_FIRST, 1, 0, false", "NONE, 2, 2, 2, ONE_FORWARD_ONE_BACKWARD, 1, 2, true",
            "WEIGHTS, 2, 2, 1, WHOLE_BACKWARDS, 2, 0, false", "GRADIENTS, 2, 1, 2, WEIGHT_GRADIENTS_LATE, 1, 1, false",
            "OPTIMIZER, 2, 2, 1, ALL_FORWARDS_FIRST, 1, 4, true"})
    void shouldReplayFromInputsInAStore(Zero zero, int holders, int size, int stageCount, Order order, int every,
            int ahead, boolean divides) {
        ModelSpec model = new Gpt2(4, 32, 4, 16, 67, true, Gpt2.NORM_EPSILON).spec();
        Partition partition = Partition.uniform(model, stageCount);
        Store store = new Store();
        try (StageGolden golden = new StageGolden(StageGolden.TIED)) {
            Setup setup = new Setup(golden, new InitialWeights(model, 7), 1, DataType.FLOAT64, Recompute.FULL,
                    new DropoutSettings(0.1, 3));
            try (TensorPipelines expected = new TensorPipelines(setup.with(new Replay(every, ahead)), partition, size,
                    false, holders, zero);
                    TensorPipelines found = new TensorPipelines(
                            setup.with(new Replay(every, ahead, divides, Optional.of(store))), partition, size, false,
                            holders, zero)) {
                Training.assertSame(expected, found, order, 0);
                long saved = allocatedBytes(expected) - allocatedBytes(found);
                assertTrue(order == Order.ALL_FORWARDS_FIRST ? saved > 0 : saved >= 0, saved + " bytes");
                assertTrue(store.open.stream().allMatch(OffloadTest::isWritten), "room that nothing used");
            }
        }
        assertEquals(List.of(), store.open);
    }

    private static boolean isWritten(MemorySegment values) {
        return Arrays.stream(values.toArray(ValueLayout.JAVA_DOUBLE)).anyMatch(value -> value != 0);
    }

    private static TensorPipelines pipelines(StageGolden golden, ModelSpec model, DataType type, Partition partition,
            int size, int holders, Zero zero) {
        return new TensorPipelines(new Setup(golden, new InitialWeights(model, 7), 1, type, Recompute.NONE,
                DropoutSettings.NONE), partition, size, false, holders, zero);
    }

    private static long allocatedBytes(TensorPipelines pipelines) {
        return pipelines.ranks.stream().mapToLong(NaivePipeline::allocatedBytes).sum();
    }
}
