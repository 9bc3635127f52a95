package dev.troupe.engine;

import dev.troupe.engine.random.Philox;

/**
 * The dropout of one tensor (Srivastava et al. 2014). A pure function of these numbers and of an element's place decides
 * which elements become zero, so that engine, threads and layout of the run do not matter. The other elements are divided by
 * the probability to stay.
 *
 * <p>Random numbers come from {@link Philox}. Its key is the seed; its counter is the element's place in the whole tensor
 * divided by 4 (48 bits), the site (16 bits), the microbatch and the step (32 bits each). The element is dropped if the word
 * with the index of its place modulo 4 is below probability x 2^32.
 *
 * <p>The place of an element [row, column] is {@code (firstRow + row) wholeColumns + firstColumn + column}; of a probability
 * of attention, [sequence, head, query, key] of length T, it is
 * {@code ((sequence wholeColumns + firstColumn + head) T + query) T + key}, with heads as columns. So a rank with some rows,
 * columns or heads of a tensor drops the same elements as a rank with the whole tensor. If only the first {@code length}
 * rows of every {@code wholeLength} rows are present, places count all rows, and T is {@code wholeLength}: without padding
 * the mask is the same.
 *
 * @param probability of an element to be dropped, from 0 to below 1
 * @param microbatch its number in the step, over all data-parallel ranks
 * @param site the number of the dropout in the model, from 0 to 65535
 * @param wholeColumns columns of the whole tensor; for attention, heads of the whole layer
 * @param firstRow the first row that is present; 0 for attention
 * @param firstColumn the first column that is present; for attention, the first head
 * @param length rows of each sequence that are present; 1 if all are
 * @param wholeLength rows of each sequence of the whole tensor; 1 if all are present
 */
public record Dropout(double probability, long seed, long step, long microbatch, int site, int wholeColumns,
        long firstRow, int firstColumn, int length, int wholeLength) {
    public static final Dropout NONE = new Dropout(0, 0, 0, 0, 0, 1, 0, 0);

    private static final int MOST_SITES = 1 << 16;

    public Dropout {
        if (!(probability >= 0 && probability < 1)) {
            throw new IllegalArgumentException(
                    "a dropout's probability lies from 0 to below 1, but found " + probability);
        }
        if (length < 1 || wholeLength < length) {
            throw new IllegalArgumentException("a dropout needs a length of at least 1 and a whole length of at least"
                    + " that, but found " + length + " and " + wholeLength);
        }
        if (site < 0 || site >= MOST_SITES || wholeColumns < 1 || firstRow < 0 || firstColumn < 0) {
            throw new IllegalArgumentException("a dropout needs a site from 0 to " + (MOST_SITES - 1)
                    + ", a column or more, and first places of at least 0, but found site " + site + ", "
                    + wholeColumns + " columns, first row " + firstRow + " and first column " + firstColumn);
        }
    }

    /** The dropout of a tensor with all rows of its sequences. */
    public Dropout(double probability, long seed, long step, long microbatch, int site, int wholeColumns,
            long firstRow, int firstColumn) {
        this(probability, seed, step, microbatch, site, wholeColumns, firstRow, firstColumn, 1, 1);
    }

    public boolean drops() {
        return probability > 0;
    }

    /** An element is dropped if its random word, read without a sign, is below this: probability x 2^32, rounded down. */
    public long threshold() {
        return (long) (probability * 0x1p32);
    }

    /** The factor of an element that is kept. */
    public double raise() {
        return 1 / (1 - probability);
    }

    /** The place of the first present element of a row of a matrix. */
    public long placeInMatrix(long row) {
        long here = firstRow + row;
        // Rounded down: the sequence of the row.
        return (here / length * wholeLength + here % length) * wholeColumns + firstColumn;
    }

    /** The place of the first probability of a query of attention. */
    public long placeInAttention(long sequence, int head, int query, int sequenceLength) {
        long whole = (long) (sequenceLength / length) * wholeLength; // exact: one sequence, or each row for itself
        return ((sequence * wholeColumns + firstColumn + head) * whole + query) * whole;
    }

    /** Returns a reader of factors, for one thread. */
    public Reader reader() {
        return new Reader();
    }

    /** A reader of factors, fastest from one place to the next. One thread. */
    public final class Reader {
        private final Philox philox = new Philox(seed);
        private final long threshold = threshold();
        private final double raise = raise();
        private long block = -1;

        private Reader() {
        }

        /** The factor of an element: 0, or 1 / (1 - probability). */
        public double factor(long place) {
            if (!drops()) {
                return 1;
            }
            if (place >>> 2 != block) {
                block = place >>> 2;
                philox.generate((int) block, (int) (block >>> 32) & 0xFFFF | site << 16, (int) microbatch, (int) step);
            }
            return Integer.toUnsignedLong(philox.word((int) place & 3)) < threshold ? 0 : raise;
        }
    }
}
