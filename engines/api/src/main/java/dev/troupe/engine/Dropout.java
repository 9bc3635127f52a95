package dev.troupe.engine;

/**
 * Which elements of one tensor dropout takes away (Srivastava et al. 2014), as a function of numbers that say which tensor
 * it is and of an element's place in it: the same whatever the engine, the threads, the layout of the run, and however
 * often it is asked. The others are divided by the probability to stay.
 *
 * <p>The random numbers are those of {@link Philox}. Its key is the seed; its counter is the element's place in the whole
 * tensor divided by 4 (48 bits), the site (16 bits), the microbatch and the step (32 bits each); of its four words the
 * element has the one of its place modulo 4, and goes where that is below probability x 2^32.
 *
 * <p>The place of an element [row, column] is {@code (firstRow + row) wholeColumns + firstColumn + column}; of a
 * probability of attention, [sequence, head, query, key] of length T, it is
 * {@code ((sequence wholeColumns + firstColumn + head) T + query) T + key}, where columns are heads. So a rank that has
 * some rows or columns of a tensor, or some of its heads, drops what a rank with all of it would drop. Where only the
 * first {@code length} rows of every {@code wholeLength} rows are here, the place of an element is that which it has
 * among all of them, and T is {@code wholeLength}: padding that is left out changes no mask.
 *
 * @param probability of an element to go, from 0 to below 1
 * @param seed of the run
 * @param step of the run
 * @param microbatch its number in the step, over all data-parallel ranks
 * @param site which of the model's dropouts, from 0 to 65535
 * @param wholeColumns columns of the whole tensor; for attention, heads of the whole layer
 * @param firstRow the first row that is here; 0 for attention
 * @param firstColumn the first column that is here; for attention, the first head
 * @param length rows of each sequence that are here; 1 where all are
 * @param wholeLength rows of each sequence of the whole tensor; 1 where all are here
 */
public record Dropout(double probability, long seed, long step, long microbatch, int site, int wholeColumns,
        long firstRow, int firstColumn, int length, int wholeLength) {
    /** Drops nothing. */
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

    /** The dropout of a tensor that has all rows of its sequences. */
    public Dropout(double probability, long seed, long step, long microbatch, int site, int wholeColumns,
            long firstRow, int firstColumn) {
        this(probability, seed, step, microbatch, site, wholeColumns, firstRow, firstColumn, 1, 1);
    }

    /** Whether anything goes. */
    public boolean drops() {
        return probability > 0;
    }

    /** An element goes whose random word, read without a sign, is below this: probability x 2^32, rounded down. */
    public long threshold() {
        return (long) (probability * 0x1p32);
    }

    /** The factor of an element that stays. */
    public double raise() {
        return 1 / (1 - probability);
    }

    /** The place of the first element that is here of a row of a matrix. */
    public long placeInMatrix(long row) {
        long here = firstRow + row;
        // Rounded down: the sequence of the row.
        return (here / length * wholeLength + here % length) * wholeColumns + firstColumn;
    }

    /** The place of the first probability of a query of attention. */
    public long placeInAttention(long sequence, int head, int query, int sequenceLength) {
        long whole = sequenceLength / length * wholeLength; // exact: one sequence, or each row for itself
        return ((sequence * wholeColumns + firstColumn + head) * whole + query) * whole;
    }

    /** Tells what becomes of each element. A reader is one thread's. */
    public Reader reader() {
        return new Reader();
    }

    /** Reads factors; quickest from one place to the next. */
    public final class Reader {
        private final Philox philox = new Philox(seed);
        private final long threshold = threshold();
        private final double raise = raise();
        private long block = -1;

        private Reader() {
        }

        /** The factor of the element at this place: 0, or one over the probability to stay. */
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
