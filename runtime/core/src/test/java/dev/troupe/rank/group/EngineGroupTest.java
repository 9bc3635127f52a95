package dev.troupe.rank.group;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Crowd;
import dev.troupe.collective.Membership;
import dev.troupe.collective.shared.SharedGroup;
import dev.troupe.engine.Bfloat16;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngineProvider;
import dev.troupe.parallel.TensorGroup;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A group over tensors; the engine {@code reference} has them on the heap, so each travels by a copy. */
@Tag("parity")
class EngineGroupTest {
    private static final int SIZE = 3;

    /** A member with an engine of its own. */
    private record Rank(TensorGroup group, Engine engine) {
        Tensor tensor(float... values) {
            Tensor tensor = engine.allocate(DataType.FLOAT32, Shape.of(values.length));
            engine.copyFromHost(MemorySegment.ofArray(values), tensor, 0);
            return tensor;
        }

        float[] read(Tensor tensor) {
            float[] values = new float[(int) tensor.shape().elementCount()];
            engine.copyToHost(tensor, 0, MemorySegment.ofArray(values));
            return values;
        }
    }

    private static void play(int size, Crowd.Part<Rank> part) {
        SharedGroup group = new SharedGroup(
                new Membership("tensor", IntStream.range(0, size).boxed().toList(), Duration.ofSeconds(30)));
        List<CollectiveGroup> members = IntStream.range(0, size).mapToObj(member -> group.join(member, 0)).toList();
        Crowd.play(members, member -> {
            try (Engine engine = new ReferenceEngineProvider().open(new EngineSettings(DataType.FLOAT32, 1))) {
                part.play(new Rank(new EngineGroup(member, engine), engine));
            }
        });
    }

    @Test
    void shouldAddUpBfloat16InFloatsAndRoundOnce() {
        play(SIZE, rank -> {
            // After 256 the next number is 258: adding 1 twice would leave 256 each time.
            try (Tensor sum = rank.engine().allocate(DataType.BFLOAT16, Shape.of(1))) {
                float addend = rank.group().rank() == 0 ? 256 : 1;
                rank.engine().copyFromHost(MemorySegment.ofArray(new short[]{Bfloat16.of(addend)}), sum, 0);
                rank.group().allReduce(sum);
                short[] found = new short[1];
                rank.engine().copyToHost(sum, 0, MemorySegment.ofArray(found));
                assertEquals(258, Bfloat16.toFloat(found[0]));
            }
        });
    }

    @Test
    void shouldComputeTheExchangesOfAStage() {
        play(SIZE, rank -> {
            int own = rank.group().rank();
            assertEquals(SIZE, rank.group().size());
            Tensor sum = rank.tensor(own, 10 * own, -own);
            rank.group().allReduce(sum);
            assertArrayEquals(new float[]{3, 30, -3}, rank.read(sum));
            Tensor most = rank.tensor(own, -own);
            rank.group().allReduceMax(most);
            assertArrayEquals(new float[]{2, 0}, rank.read(most));
            double[] few = {own, 0.5};
            rank.group().allReduce(few);
            assertArrayEquals(new double[]{3, 1.5}, few);
            Tensor slice = rank.tensor(0, 0);
            rank.group().reduceScatter(rank.tensor(0, 1, 2, 3, 4, own), slice);
            assertArrayEquals(List.of(new float[]{0, 3}, new float[]{6, 9}, new float[]{12, 3}).get(own),
                    rank.read(slice));
            Tensor whole = rank.tensor(0, 0, 0, 0, 0, 0);
            rank.group().allGather(rank.tensor(own, 10 + own), whole);
            assertArrayEquals(new float[]{0, 10, 1, 11, 2, 12}, rank.read(whole));
        });
    }

    @Test
    void shouldLeaveTensorsAsTheyAreInAGroupOfOne() {
        play(1, rank -> {
            Tensor tensor = rank.tensor(1, 2);
            rank.group().allReduce(tensor);
            rank.group().reduceScatter(tensor, tensor);
            rank.group().allGather(tensor, tensor);
            assertArrayEquals(new float[]{1, 2}, rank.read(tensor));
        });
    }

    @Test
    void shouldRefuseASliceOfAnotherType() {
        play(1, rank -> {
            Tensor ids = rank.engine().allocate(DataType.INT32, Shape.of(2));
            assertThrows(IllegalArgumentException.class, () -> rank.group().allGather(ids, rank.tensor(1, 2)));
        });
    }
}
