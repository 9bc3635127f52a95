package dev.troupe.engine.router;

import dev.troupe.engine.random.Philox;

/**
 * A random number for each row of a microbatch in a layer, a pure function of these numbers and of the row's place. So
 * engine, threads and layout of the run do not matter. Numbers come from {@link Philox}: its key is the seed, its counter
 * the place divided by 4 (48 bits), the site (16 bits), the microbatch and the step (32 bits each).
 *
 * @param microbatch its number in the step, over all data-parallel ranks
 * @param site the number of the layer among all that draw, from 0 to 65535
 * @param length rows of each sequence that are present
 * @param wholeLength rows of each sequence with all padding, which count for a place
 */
public record RowDraws(long seed, long step, long microbatch, int site, int length, int wholeLength) {
    private static final int WORDS = 4;

    /** Returns the numbers of the first rows, from 0 to below 1. */
    public double[] ofRows(int count) {
        Philox philox = new Philox(seed);
        double[] numbers = new double[count];
        long block = -1;
        for (int row = 0; row < count; row++) {
            long place = (long) (row / length) * wholeLength + row % length;
            if (place / WORDS != block) {
                block = place / WORDS;
                philox.generate((int) block, (int) (block >>> 32) & 0xFFFF | site << 16, (int) microbatch, (int) step);
            }
            numbers[row] = Integer.toUnsignedLong(philox.word((int) (place % WORDS))) * 0x1p-32;
        }
        return numbers;
    }
}
