package dev.troupe.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.tokenizer.Tokenizer;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class BatchesTest {
    @Test
    void shouldFollowTheGoldenTokens() throws URISyntaxException {
        Path file = Path.of(BatchesTest.class.getResource("/goldens/gpt2-tied-adamw/tokens.bin").toURI());
        try (Corpus corpus = Corpus.open(file, Tokenizer.named("bytes"))) {
            Batches batches = new Batches(corpus.tokens(), Order.SEQUENTIAL, 0, 16, 8);
            int[] inputs = new int[2 * 16];
            int[] targets = new int[2 * 16];
            // Step 5, microbatch 3 of 2 ends with sequence 7: tokens 752 to 768, as another reader of the file gives
            // them.
            batches.fillMicrobatch(5, 3, 2, inputs, targets);
            assertArrayEquals(new int[]{16, 17, 20, 21, 23, 24, 26, 27, 29, 30, 31, 34, 35, 36, 41, 44},
                    Arrays.copyOfRange(inputs, 16, 32));
            assertArrayEquals(new int[]{17, 20, 21, 23, 24, 26, 27, 29, 30, 31, 34, 35, 36, 41, 44, 45},
                    Arrays.copyOfRange(targets, 16, 32));
            assertEquals((5 * 8 + 7) * 16, batches.offset(5, 7));
            assertEquals(0, batches.offset(6, 0));
        }
    }

    @Test
    void shouldBeginAgainAfterTheLastWholeWindow() {
        // 10 tokens hold 3 windows of 3 inputs with their targets: 0, 3, 6; the token of position 9 is a target only.
        Batches ten = new Batches(counting(10), Order.SEQUENTIAL, 0, 3, 2);
        assertOffsets(ten, new long[][]{{0, 3}, {6, 0}, {3, 6}, {0, 3}});
        // With 9 tokens the window at 6 would lack its last target.
        assertOffsets(new Batches(counting(9), Order.SEQUENTIAL, 0, 3, 2), new long[][]{{0, 3}, {0, 3}});
        int[] inputs = new int[3];
        int[] targets = new int[3];
        ten.fill(1, 0, inputs, targets, 0);
        assertArrayEquals(new int[]{6, 7, 8}, inputs);
        assertArrayEquals(new int[]{7, 8, 9}, targets);
    }

    @Test
    void shouldDrawTheSameSequencesInMicrobatchesOfAnySize() {
        Batches batches = new Batches(counting(200), Order.RANDOM, 42, 5, 12);
        int[] whole = new int[12 * 5];
        int[] wholeTargets = new int[12 * 5];
        batches.fillMicrobatch(7, 0, 12, whole, wholeTargets);
        for (int size : new int[]{1, 2, 3, 4, 6}) {
            int[] inputs = new int[size * 5];
            int[] targets = new int[size * 5];
            for (int microbatch = 0; microbatch < 12 / size; microbatch++) {
                batches.fillMicrobatch(7, microbatch, size, inputs, targets);
                int from = microbatch * size * 5;
                assertArrayEquals(Arrays.copyOfRange(whole, from, from + size * 5), inputs);
                assertArrayEquals(Arrays.copyOfRange(wholeTargets, from, from + size * 5), targets);
            }
        }
        // The size of the batch has no say either.
        Batches larger = new Batches(counting(200), Order.RANDOM, 42, 5, 24);
        assertEquals(batches.offset(7, 11), larger.offset(7, 11));
    }

    @Test
    void shouldDrawEveryOffsetEquallyOften() {
        int offsets = 20;
        Batches batches = new Batches(counting(offsets + 5), Order.RANDOM, 9, 5, 40);
        int[] counts = new int[offsets];
        for (int step = 0; step < 1000; step++) {
            for (int sequence = 0; sequence < 40; sequence++) {
                counts[(int) batches.offset(step, sequence)]++;
            }
        }
        // 40,000 draws: 2000 each, with a standard deviation of 44.
        assertTrue(Arrays.stream(counts).allMatch(count -> Math.abs(count - 2000) < 250), Arrays.toString(counts));
        Batches only = new Batches(counting(6), Order.RANDOM, 9, 5, 4);
        assertEquals(0, only.offset(3, 3));
    }

    @Test
    void shouldDrawOtherSequencesForAnotherSeedOrStep() {
        Tokens tokens = counting(60_000);
        Set<Long> drawn = new HashSet<>();
        for (long seed = 0; seed < 4; seed++) {
            Batches batches = new Batches(tokens, Order.RANDOM, seed, 1, 4);
            for (int step = 0; step < 4; step++) {
                for (int sequence = 0; sequence < 4; sequence++) {
                    drawn.add(batches.offset(step, sequence));
                }
            }
        }
        assertTrue(drawn.size() > 60, "64 draws from 59999 gave only " + drawn.size() + " offsets");
        assertNotEquals(new Batches(tokens, Order.RANDOM, 0, 1, 4).offset(1, 0),
                new Batches(tokens, Order.RANDOM, 1, 1, 4).offset(0, 0));
    }

    @Test
    void shouldTakeEveryWindowOnceInEachEpoch() {
        // 101 tokens hold 20 windows of 5; batches of 6 end inside an epoch, and 10 of them are three epochs.
        Batches batches = new Batches(counting(101), Order.EPOCHS, 3, 5, 6);
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
        assertNotEquals(all, offsets(new Batches(counting(101), Order.EPOCHS, 4, 5, 6), 10));
        // The order of the windows is the same in batches of any size, and so on any grid.
        assertEquals(all, offsets(new Batches(counting(101), Order.EPOCHS, 3, 5, 10), 6));
        assertEquals(0, new Batches(counting(6), Order.EPOCHS, 3, 5, 1).offset(7, 0));
    }

    /** Where a window comes in its epoch says nothing of where it is in the text, nor of the epoch after. */
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
                offsets.add(batches.offset(step, sequence));
            }
        }
        return offsets;
    }

    @Test
    void shouldRefuseATextShorterThanASequenceAndOne() {
        assertEquals("counting has 5 tokens, but one sequence of 5 needs 6; use more text or a smaller"
                + " model.sequence-length",
                assertThrows(DataException.class,
                        () -> new Batches(counting(5), Order.RANDOM, 0, 5, 1)).getMessage());
        assertEquals(0, new Batches(counting(6), Order.SEQUENTIAL, 0, 5, 1).offset(17, 0));
        assertThrows(IndexOutOfBoundsException.class,
                () -> new Batches(counting(6), Order.SEQUENTIAL, 0, 5, 1).offset(0, 1));
    }

    @Test
    void shouldTakeTheEndForValidation() {
        Split split = Split.of(counting(100), 0.29, 5);
        assertEquals(71, split.training().length());
        assertEquals(29, split.validation().orElseThrow().length());
        assertEquals(71, split.validation().orElseThrow().at(0));
        assertThrows(IndexOutOfBoundsException.class, () -> split.training().at(71));
        assertTrue(Split.of(counting(100), 0, 5).validation().isEmpty());
        assertEquals(100, Split.of(counting(100), 0, 5).training().length());
    }

    @Test
    void shouldValidateOnAnotherCorpus() {
        Split split = Split.of(counting(100), counting(6), 5);
        assertEquals(100, split.training().length());
        assertEquals(6, split.validation().orElseThrow().length());
        assertThrows(DataException.class, () -> Split.of(counting(100), counting(5), 5));
        assertThrows(DataException.class, () -> Split.of(counting(5), counting(100), 5));
    }

    @Test
    void shouldRefuseAPartThatIsTooShort() {
        assertEquals(
                "counting has 100 tokens, of which data.validation-fraction = 0.05 leaves 95 for training and 5 for"
                        + " validation, but one sequence of 5 needs 6 in either; change the fraction (0 for none) or"
                        + " use more text",
                assertThrows(DataException.class, () -> Split.of(counting(100), 0.05, 5)).getMessage());
        assertThrows(DataException.class, () -> Split.of(counting(100), 0.95, 5));
        assertThrows(DataException.class, () -> Split.of(counting(5), 0, 5));
        for (double fraction : new double[]{1, -0.1, Double.NaN}) {
            assertEquals("data.validation-fraction must be at least 0 and below 1, but found " + fraction,
                    assertThrows(DataException.class, () -> Split.of(counting(100), fraction, 5)).getMessage());
        }
    }

    @Test
    void shouldMeasureTheValidationLossOnTheSameWindows() {
        // 22 tokens hold 4 windows of 5: two microbatches of two.
        ValidationBatches all = new ValidationBatches(counting(22), 5, 2, 100);
        assertEquals(2, all.microbatchCount());
        int[] inputs = new int[10];
        int[] targets = new int[10];
        all.fill(1, inputs, targets);
        assertArrayEquals(new int[]{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, inputs);
        assertArrayEquals(new int[]{11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, targets);
        assertEquals(1, new ValidationBatches(counting(22), 5, 2, 1).microbatchCount());
        // Fewer windows than one microbatch: they repeat.
        ValidationBatches few = new ValidationBatches(counting(7), 5, 2, 3);
        assertEquals(1, few.microbatchCount());
        few.fill(0, inputs, targets);
        assertArrayEquals(new int[]{0, 1, 2, 3, 4, 0, 1, 2, 3, 4}, inputs);
    }

    private static void assertOffsets(Batches batches, long[][] expected) {
        for (int step = 0; step < expected.length; step++) {
            assertArrayEquals(expected[step], new long[]{batches.offset(step, 0), batches.offset(step, 1)},
                    "step " + step);
        }
    }

    /** Tokens 0, 1, 2, ... */
    private static Tokens counting(int count) {
        IdBuffer ids = new IdBuffer();
        int[] numbers = new int[count];
        Arrays.setAll(numbers, i -> i);
        ids.append(numbers);
        return new Tokens("counting", ids.segment(), Integer.BYTES);
    }
}
