package dev.troupe.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.random.Philox;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class DropoutTest {
    /** The known answers of Random123, the authors' own code. */
    @Test
    void shouldGiveTheWordsOfThePaper() {
        assertEquals("6627e8d5 e169c58d bc57ac4c 9b00dbd8", words(0, 0, 0, 0, 0));
        assertEquals("408f276d 41c83b0e a20bc7c6 6d5451fd", words(-1, -1, -1, -1, -1));
        assertEquals("d16cfe09 94fdcceb 5001e420 24126ea1",
                words(0x299f31d0a4093822L, 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344));
    }

    private static String words(long key, int... counter) {
        Philox philox = new Philox(key);
        philox.generate(counter[0], counter[1], counter[2], counter[3]);
        return String.join(" ", IntStream.range(0, 4).mapToObj(i -> String.format("%08x", philox.word(i))).toList());
    }

    @Test
    void shouldDropTheConfiguredShareAndRaiseTheOthers() {
        int count = 1 << 18;
        for (double probability : new double[]{0.1, 0.5, 0.9}) {
            Dropout.Reader reader = dropout(probability, 1, 2, 3, 4).reader();
            double[] factors = LongStream.range(0, count).mapToDouble(reader::factor).toArray();
            long gone = 0;
            for (double factor : factors) {
                assertTrue(factor == 0 || factor == 1 / (1 - probability));
                gone += factor == 0 ? 1 : 0;
            }
            // Six standard deviations of a binomial count.
            assertEquals(probability * count, gone, 6 * Math.sqrt(count * probability * (1 - probability)));
        }
    }

    @Test
    void shouldDependOnEveryCoordinate() {
        List<Long> masks = List.of(mask(dropout(0.5, 1, 2, 3, 4)), mask(dropout(0.5, 9, 2, 3, 4)),
                mask(dropout(0.5, 1, 9, 3, 4)), mask(dropout(0.5, 1, 2, 9, 4)), mask(dropout(0.5, 1, 2, 3, 9)),
                mask(dropout(0.5, 1L << 32 | 1, 2, 3, 4)));
        assertEquals(masks.size(), masks.stream().distinct().count());
        assertEquals(masks.getFirst(), mask(dropout(0.5, 1, 2, 3, 4)));
    }

    @Test
    void shouldGiveTheSameFactorsInAnyOrderOfCalls() {
        Dropout dropout = dropout(0.5, 1, 2, 3, 4);
        Dropout.Reader forwards = dropout.reader();
        Dropout.Reader backwards = dropout.reader();
        double[] factors = LongStream.range(0, 100).mapToDouble(forwards::factor).toArray();
        for (int place = 99; place >= 0; place--) {
            assertEquals(factors[place], backwards.factor(place));
        }
        assertNotEquals(0, LongStream.range(0, 100).filter(place -> factors[(int) place] == 0).count());
    }

    @Test
    void shouldDropTheSameElementsInPartsAsInTheWhole() {
        assertEquals(7 * 10 + 4, new Dropout(0.5, 0, 0, 0, 0, 10, 5, 4).placeInMatrix(2));
        // Sequence 1 of a layer of 6 heads, the second head of a rank that begins at head 3, query 2 of 5.
        assertEquals(((6 + 3 + 1) * 5 + 2) * 5,
                new Dropout(0.5, 0, 0, 0, 0, 6, 0, 3).placeInAttention(1, 1, 2, 5));
    }

    @Test
    void shouldDropTheSameElementsWithoutPaddingAsWithIt() {
        Dropout matrix = new Dropout(0.5, 0, 0, 0, 0, 10, 4, 3, 5, 9);
        // The row after four others is the last of the first sequence, and the next one the first of the second.
        assertEquals(4 * 10 + 3, matrix.placeInMatrix(0));
        assertEquals(9 * 10 + 3, matrix.placeInMatrix(1));
        assertEquals(((6 + 1) * 9 + 2) * 9,
                new Dropout(0.5, 0, 0, 0, 0, 6, 0, 0, 5, 9).placeInAttention(1, 1, 2, 5));
    }

    @Test
    void shouldRefuseInvalidDropouts() {
        assertThrows(IllegalArgumentException.class, () -> dropout(1, 0, 0, 0, 0));
        assertThrows(IllegalArgumentException.class, () -> dropout(-0.1, 0, 0, 0, 0));
        assertThrows(IllegalArgumentException.class, () -> dropout(0.1, 0, 0, 0, 1 << 16));
        assertThrows(IllegalArgumentException.class, () -> new Dropout(0.1, 0, 0, 0, 0, 1, 0, 0, 5, 4));
    }

    private static Dropout dropout(double probability, long seed, long step, long microbatch, int site) {
        return new Dropout(probability, seed, step, microbatch, site, 1, 0, 0);
    }

    private static long mask(Dropout dropout) {
        Dropout.Reader reader = dropout.reader();
        return LongStream.range(0, 64).map(place -> reader.factor(place) == 0 ? 0 : 1L << place).reduce(0, Long::sum);
    }
}
