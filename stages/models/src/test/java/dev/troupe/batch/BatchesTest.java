package dev.troupe.batch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.data.Corpus;
import dev.troupe.data.CountingTokens;
import dev.troupe.data.DataException;
import dev.troupe.data.Tokens;
import dev.troupe.tokenizer.Tokenizer;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class BatchesTest {
    @Test
    void shouldFollowTheGoldenTokens() throws URISyntaxException {
        Path file = Path.of(BatchesTest.class.getResource("/goldens/gpt2-tied-adamw/tokens.bin").toURI());
        try (Corpus corpus = Corpus.open(file, Tokenizer.named("bytes"))) {
            Batches batches = new Batches(corpus.tokens(), Order.SEQUENTIAL, 0, 16, 8);
            MicrobatchRows rows = new MicrobatchRows(2 * 16, false);
            // Step 5, microbatch 3 of 2 ends with sequence 7: tokens 752 to 768, as another reader of the file gives
            // them.
            batches.fillMicrobatch(5, 3, 2, rows);
            assertArrayEquals(new int[]{16, 17, 20, 21, 23, 24, 26, 27, 29, 30, 31, 34, 35, 36, 41, 44},
                    Arrays.copyOfRange(rows.inputs(), 16, 32));
            assertArrayEquals(new int[]{17, 20, 21, 23, 24, 26, 27, 29, 30, 31, 34, 35, 36, 41, 44, 45},
                    Arrays.copyOfRange(rows.targets(), 16, 32));
            assertEquals((5 * 8 + 7) * 16, batches.position(5, 7));
            assertEquals(0, batches.position(6, 0));
        }
    }

    /** Sequences with these numbers of tokens; the longest of a run is 64. */
    private record Unequal(int... tokens) implements Sequences {
        @Override
        public int sequenceLength() {
            return 64;
        }

        @Override
        public long windowCount() {
            return tokens.length;
        }

        @Override
        public long positionOf(long window) {
            return window;
        }

        @Override
        public long positionCount() {
            return tokens.length;
        }

        @Override
        public boolean separatesDocuments() {
            return true;
        }

        @Override
        public int countedTargets(long position) {
            return tokens[(int) position];
        }

        @Override
        public int tokenCount(long position) {
            return tokens[(int) position];
        }

        @Override
        public void fill(long position, MicrobatchRows rows, int at, int length) {
            throw new UnsupportedOperationException("lengths alone are asked for");
        }
    }

    @Test
    void shouldReturnTheLengthOfEachMicrobatchIfTheyDiffer() {
        Batches batches = new Batches(new Unequal(5, 64, 16, 17, 3, 20, 31, 9, 64, 1, 60, 2, 64, 64, 50, 49),
                Order.SEQUENTIAL, 0, 8, new SequenceLengths(64, 16));
        assertArrayEquals(new int[]{0, 32, 32, 32}, batches.lengths(0, 2));
        assertArrayEquals(new int[0], batches.lengths(1, 2));
        assertArrayEquals(new int[]{0, 16, 0, 16, 0, 0, 0, 0}, batches.lengths(1, 1));
    }

    @Test
    void shouldBeginAgainAfterTheLastWholeWindow() {
        // 10 tokens hold 3 windows of 3 inputs with their targets: 0, 3, 6; the token of position 9 is a target only.
        Batches ten = new Batches(CountingTokens.of(10), Order.SEQUENTIAL, 0, 3, 2);
        assertOffsets(ten, new long[][]{{0, 3}, {6, 0}, {3, 6}, {0, 3}});
        // With 9 tokens the window at 6 would lack its last target.
        assertOffsets(new Batches(CountingTokens.of(9), Order.SEQUENTIAL, 0, 3, 2), new long[][]{{0, 3}, {0, 3}});
        MicrobatchRows rows = new MicrobatchRows(3, false);
        ten.fillMicrobatch(1, 0, 1, rows);
        assertArrayEquals(new int[]{6, 7, 8}, rows.inputs());
        assertArrayEquals(new int[]{7, 8, 9}, rows.targets());
        assertEquals(3, rows.targetsPerMicrobatch());
    }

    @Test
    void shouldDrawTheSameSequencesInMicrobatchesOfAnySize() {
        Batches batches = new Batches(CountingTokens.of(200), Order.RANDOM, 42, 5, 12);
        MicrobatchRows whole = new MicrobatchRows(12 * 5, false);
        batches.fillMicrobatch(7, 0, 12, whole);
        for (int size : new int[]{1, 2, 3, 4, 6}) {
            MicrobatchRows rows = new MicrobatchRows(size * 5, false);
            for (int microbatch = 0; microbatch < 12 / size; microbatch++) {
                batches.fillMicrobatch(7, microbatch, size, rows);
                int from = microbatch * size * 5;
                assertArrayEquals(Arrays.copyOfRange(whole.inputs(), from, from + size * 5), rows.inputs());
                assertArrayEquals(Arrays.copyOfRange(whole.targets(), from, from + size * 5), rows.targets());
            }
        }
        // The size of the batch has no effect either.
        Batches larger = new Batches(CountingTokens.of(200), Order.RANDOM, 42, 5, 24);
        assertEquals(batches.position(7, 11), larger.position(7, 11));
    }

    @Test
    void shouldDrawEveryOffsetEquallyOften() {
        int offsets = 20;
        Batches batches = new Batches(CountingTokens.of(offsets + 5), Order.RANDOM, 9, 5, 40);
        int[] counts = new int[offsets];
        for (int step = 0; step < 1000; step++) {
            for (int sequence = 0; sequence < 40; sequence++) {
                counts[(int) batches.position(step, sequence)]++;
            }
        }
        // 40,000 draws: 2000 each, with a standard deviation of 44.
        assertTrue(Arrays.stream(counts).allMatch(count -> Math.abs(count - 2000) < 250), Arrays.toString(counts));
        Batches only = new Batches(CountingTokens.of(6), Order.RANDOM, 9, 5, 4);
        assertEquals(0, only.position(3, 3));
    }

    @Test
    void shouldDrawOtherSequencesForAnotherSeedOrStep() {
        Tokens tokens = CountingTokens.of(60_000);
        Set<Long> drawn = new HashSet<>();
        for (long seed = 0; seed < 4; seed++) {
            Batches batches = new Batches(tokens, Order.RANDOM, seed, 1, 4);
            for (int step = 0; step < 4; step++) {
                for (int sequence = 0; sequence < 4; sequence++) {
                    drawn.add(batches.position(step, sequence));
                }
            }
        }
        assertTrue(drawn.size() > 60, "64 draws from 59999 gave only " + drawn.size() + " offsets");
        assertNotEquals(new Batches(tokens, Order.RANDOM, 0, 1, 4).position(1, 0),
                new Batches(tokens, Order.RANDOM, 1, 1, 4).position(0, 0));
    }

    @Test
    void shouldTakeEveryWindowOnceInEachEpoch() {
        // 101 tokens hold 20 windows of 5; batches of 6 end inside an epoch, and 10 of them are three epochs.
        Batches batches = new Batches(CountingTokens.of(101), Order.EPOCHS, 3, 5, 6);
        assertEquals(20, batches.windowCount());
        assertEquals(3, batches.epochs(10));
        List<Long> all = offsets(batches, 10);
        List<Long> windows = LongStream.range(0, 20).mapToObj(window -> window * 5).toList();
        List<List<Long>> epochs = List.of(all.subList(0, 20), all.subList(20, 40), all.subList(40, 60));
        epochs.forEach(epoch -> {
            assertEquals(windows, epoch.stream().sorted().toList());
            assertNotEquals(windows, epoch);
        });
        assertEquals(3, Set.copyOf(epochs).size(), "an epoch has the order of another");
        assertNotEquals(all, offsets(new Batches(CountingTokens.of(101), Order.EPOCHS, 4, 5, 6), 10));
        // The order of the windows is the same in batches of any size, and so on any grid.
        assertEquals(all, offsets(new Batches(CountingTokens.of(101), Order.EPOCHS, 3, 5, 10), 6));
        assertEquals(0, new Batches(CountingTokens.of(6), Order.EPOCHS, 3, 5, 1).position(7, 0));
    }

    /** The place of a window in its epoch is independent of its place in the text, and of the epoch after. */
    @Test
    void shouldShuffleWindowsWell() {
        for (long size : new long[]{1, 2, 3, 5, 64, 65, 1000}) {
            Permutation permutation = new Permutation(size);
            for (long key = 0; key < 50; key++) {
                long fixed = key;
                assertEquals(size, LongStream.range(0, size).map(index -> permutation.at(fixed, index)).distinct()
                        .filter(value -> value >= 0 && value < size).count());
            }
        }
        Permutation four = new Permutation(4);
        int[] counts = new int[256];
        for (long key = 0; key < 24_000; key++) {
            int order = 0;
            for (int index = 0; index < 4; index++) {
                order = order * 4 + (int) four.at(Mixing.mix(key), index);
            }
            counts[order]++;
        }
        // All 24 orders, 1000 times each.
        int[] found = Arrays.stream(counts).filter(count -> count > 0).toArray();
        assertEquals(24, found.length);
        assertTrue(Arrays.stream(found).allMatch(count -> count > 700 && count < 1300), Arrays.toString(found));
    }

    private static List<Long> offsets(Batches batches, int steps) {
        List<Long> offsets = new ArrayList<>();
        for (int step = 0; step < steps; step++) {
            for (int sequence = 0; sequence < batches.globalBatchSize(); sequence++) {
                offsets.add(batches.position(step, sequence));
            }
        }
        return offsets;
    }

    @Test
    void shouldRefuseATextShorterThanASequenceAndOne() {
        assertEquals("counting has 5 tokens, but one sequence of 5 needs 6; use more text or a smaller"
                + " model.sequence-length",
                assertThrows(DataException.class,
                        () -> new Batches(CountingTokens.of(5), Order.RANDOM, 0, 5, 1)).getMessage());
        assertEquals(0, new Batches(CountingTokens.of(6), Order.SEQUENTIAL, 0, 5, 1).position(17, 0));
        assertThrows(IndexOutOfBoundsException.class,
                () -> new Batches(CountingTokens.of(6), Order.SEQUENTIAL, 0, 5, 1).position(0, 1));
    }

    @Test
    void shouldRoundLengthsUpToFewOfThem() {
        SequenceLengths some = SequenceLengths.of(200, 1);
        assertEquals(List.of(16, 16, 32, 192, 200, 200),
                Stream.of(1, 16, 17, 192, 193, 200).map(some::holding).toList());
        assertEquals(8, SequenceLengths.of(8, 1).holding(1));
        assertEquals(4096, SequenceLengths.of(131_072, 1).unit());
        assertEquals(48, SequenceLengths.of(200, 3).unit(), "ranks share out whole rows");
        assertEquals(48, SequenceLengths.of(1024, 3).unit());
    }

    @Test
    void shouldMeasureTheValidationLossOnTheSameWindows() {
        // 22 tokens hold 4 windows of 5: two microbatches of two.
        ValidationBatches all = new ValidationBatches(new TextSequences(CountingTokens.of(22), 5), 2, 100);
        assertEquals(2, all.microbatchCount());
        MicrobatchRows rows = new MicrobatchRows(10, false);
        all.fill(1, rows);
        assertArrayEquals(new int[]{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, rows.inputs());
        assertArrayEquals(new int[]{11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, rows.targets());
        assertEquals(1, new ValidationBatches(new TextSequences(CountingTokens.of(22), 5), 2, 1).microbatchCount());
        // Fewer windows than one microbatch: they repeat.
        ValidationBatches few = new ValidationBatches(new TextSequences(CountingTokens.of(7), 5), 2, 3);
        assertEquals(1, few.microbatchCount());
        few.fill(0, rows);
        assertArrayEquals(new int[]{0, 1, 2, 3, 4, 0, 1, 2, 3, 4}, rows.inputs());
    }

    private static void assertOffsets(Batches batches, long[][] expected) {
        for (int step = 0; step < expected.length; step++) {
            assertArrayEquals(expected[step], new long[]{batches.position(step, 0), batches.position(step, 1)},
                    "step " + step);
        }
    }
}
