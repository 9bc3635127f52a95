package dev.troupe.parallel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.Shape;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Slices by hand, and that the slices of all ranks are the whole. */
@Tag("plan")
class TensorSliceTest {
    @Test
    void shouldCutQueriesKeysAndValuesOfTheRanksOwnHeads() {
        // 2 rows; q, k and v of 2 heads of 1 number: q0 q1 k0 k1 v0 v1
        TensorSlice slice = TensorSlice.share(Shape.of(2, 6), 1, List.of(2, 2, 2), 1, 2);
        int[] whole = {10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25};
        int[] own = new int[6];
        slice.cut(MemorySegment.ofArray(whole), MemorySegment.ofArray(own), Integer.BYTES);
        assertArrayEquals(new int[]{11, 13, 15, 21, 23, 25}, own);
        assertEquals(Shape.of(2, 3), slice.shape());
        assertEquals("2x6 1 1-2,3-4,5-6", slice.text());
    }

    @Test
    void shouldCutPiecesOfUnequalWidth() {
        // 4 heads of queries, 2 of keys and of values, each of 1 number: q0 q1 q2 q3 k0 k1 v0 v1
        assertEquals("1x8 1 2-4,5-6,7-8", TensorSlice.share(Shape.of(1, 8), 1, List.of(4, 2, 2), 1, 2).text());
    }

    @Test
    void shouldGiveTheFirstRanksOneMoreIfACountDoesNotDivide() {
        assertEquals(List.of(new IndexRange(0, 3), new IndexRange(3, 6), new IndexRange(6, 8), new IndexRange(8, 10)),
                IntStream.range(0, 4).mapToObj(rank -> IndexRange.share(10, rank, 4)).toList());
        assertThrows(IllegalArgumentException.class, () -> IndexRange.share(3, 3, 4));
    }

    @Test
    void shouldBeTheWholeWhenAllRanksPutTheirSlicesTogether() {
        for (int[] sizes : new int[][]{{12}, {13, 5}, {12, 24}, {3, 24, 2}}) {
            for (int dimension = 0; dimension < sizes.length; dimension++) {
                for (int ranks = 1; ranks <= 4; ranks++) {
                    int size = sizes[dimension];
                    for (List<Integer> pieces : List.of(List.of(size), List.of(size / 3, size / 3, size - size / 3 * 2),
                            List.of(size - size / 2, size / 4, size / 2 - size / 4))) {
                        if (Collections.min(pieces) >= ranks) {
                            assertWhole(Shape.of(sizes), dimension, pieces, ranks);
                        }
                    }
                }
            }
        }
    }

    private static void assertWhole(Shape shape, int dimension, List<Integer> pieces, int ranks) {
        int[] elements = IntStream.range(1, (int) shape.elementCount() + 1).toArray();
        int[] together = new int[elements.length];
        List<TensorSlice> slices = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            TensorSlice slice = TensorSlice.share(shape, dimension, pieces, rank, ranks);
            int[] own = new int[(int) slice.shape().elementCount()];
            slice.cut(MemorySegment.ofArray(elements), MemorySegment.ofArray(own), Integer.BYTES);
            slice.paste(MemorySegment.ofArray(own), MemorySegment.ofArray(together), Integer.BYTES);
            assertEquals(slice, TensorSlice.parse(slice.text()));
            assertEquals(ranks == 1, slice.isWhole());
            slices.add(slice);
        }
        assertArrayEquals(elements, together, () -> slices.toString());
        TensorSlice.requireWhole(slices);
        if (ranks > 1) {
            assertThrows(IllegalArgumentException.class, () -> TensorSlice.requireWhole(slices.subList(1, ranks)));
            List<TensorSlice> doubled = new ArrayList<>(slices);
            doubled.add(slices.getFirst());
            assertThrows(IllegalArgumentException.class, () -> TensorSlice.requireWhole(doubled));
        }
    }

    @Test
    void shouldCutElementsOfItsIndicesWhereverRowsBegin() {
        // columns 1, 3 and 5 of 2 rows are 11 13 15 21 23 25, and of these the elements 2 to 4
        TensorSlice part = TensorSlice.share(Shape.of(2, 6), 1, List.of(2, 2, 2), 1, 2)
                .part(new IndexRange(2, 5));
        int[] whole = {10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25};
        int[] own = new int[3];
        part.cut(MemorySegment.ofArray(whole), MemorySegment.ofArray(own), Integer.BYTES);
        assertArrayEquals(new int[]{15, 21, 23}, own);
        assertEquals(Shape.of(3), part.shape());
        assertEquals("2x6 1 1-2,3-4,5-6 elements 2-5", part.text());
        assertThrows(IllegalStateException.class, () -> part.part(new IndexRange(0, 1)));
        assertThrows(IllegalArgumentException.class,
                () -> TensorSlice.whole(Shape.of(2, 6)).part(new IndexRange(0, 13)));
    }

    @Test
    void shouldBeTheWholeWhenAllRanksPutTheirPartsTogether() {
        Shape shape = Shape.of(5, 6);
        int[] elements = IntStream.range(1, 31).toArray();
        int[] together = new int[30];
        List<TensorSlice> parts = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            TensorSlice slice = TensorSlice.share(shape, 1, List.of(2, 2, 2), rank, 2);
            for (int holder = 0; holder < 3; holder++) {
                TensorSlice part = slice.part(IndexRange.share(15, holder, 3));
                int[] own = new int[5];
                part.cut(MemorySegment.ofArray(elements), MemorySegment.ofArray(own), Integer.BYTES);
                part.paste(MemorySegment.ofArray(own), MemorySegment.ofArray(together), Integer.BYTES);
                assertEquals(part, TensorSlice.parse(part.text()));
                assertFalse(part.isWhole());
                parts.add(part);
            }
        }
        assertArrayEquals(elements, together);
        TensorSlice.requireWhole(parts);
        for (int missing = 0; missing < parts.size(); missing++) {
            List<TensorSlice> some = new ArrayList<>(parts);
            some.remove(missing);
            assertThrows(IllegalArgumentException.class, () -> TensorSlice.requireWhole(some));
            some.add(parts.get((missing + 1) % parts.size()));
            assertThrows(IllegalArgumentException.class, () -> TensorSlice.requireWhole(some));
        }
        TensorSlice whole = TensorSlice.whole(shape);
        assertEquals(whole, whole.part(new IndexRange(0, 30)));
    }

    @Test
    void shouldRefuseTextThatIsNoSlice() {
        for (String wrong : List.of("", "2x6", "2x6 1", "2x6 2 0-1", "2x6 1 0-7", "2x6 1 3-3", "2x6 1 3-4,2-3",
                "-2 0 0-1",
                "2x6 1 0-1;2-3", "99999999999 0 0-1", "2x6 1 0-1 elements", "2x6 1 0-1 elements 1-1",
                "2x6 1 0-1 elements 0-3")) {
            assertThrows(IllegalArgumentException.class, () -> TensorSlice.parse(wrong), wrong);
        }
    }

    @Test
    void shouldLeaveEverythingAsItIsInAGroupOfOne() {
        assertTrue(TensorSlice.share(Shape.of(4, 6), 1, List.of(2, 2, 2), 0, 1).isWhole());
        assertFalse(new TensorShare(TensorGroup.ALONE, true).cutsRows());
        double[] values = {1, 2};
        TensorGroup.ALONE.allReduce(values);
        assertEquals("[1.0, 2.0]", Arrays.toString(values));
    }
}
