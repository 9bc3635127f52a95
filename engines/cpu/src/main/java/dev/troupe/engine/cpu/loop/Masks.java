package dev.troupe.engine.cpu.loop;

import dev.troupe.engine.Dropout;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;

/** Dropout on rows of floats: each element is multiplied by 0 or by a constant, as a random word decides. Any thread. */
public final class Masks {
    /** The most floats for which random words are made in one call; these words fit the first-level cache. */
    public static final int MOST = 512;
    /** Bytes of scratch memory. Words are made in fours, so there may be some before the first and after the last. */
    public static final long SCRATCH_BYTES = 4L * (MOST + 2 * RandomWords.OF_A_VECTOR);

    private final Dropout dropout;
    private final int threshold;
    private final float raise;

    public Masks(Dropout dropout) {
        this.dropout = dropout;
        this.threshold = (int) dropout.threshold();
        this.raise = (float) dropout.raise();
    }

    public boolean drop() {
        return dropout.drops();
    }

    /**
     * Sets y to x times 0 or the constant, for a row of any length; y may be x.
     *
     * @param scratch memory that the calling thread alone uses
     */
    public void apply(long place, long x, long y, int count, long scratch) {
        for (int i = 0; i < count; i += MOST) {
            int some = Math.min(MOST, count - i);
            apply(words(place + i, some, scratch), x + 4L * i, y + 4L * i, some);
        }
    }

    /** Makes the words of up to {@link #MOST} places, and returns the address of the first. */
    public long words(long place, int count, long scratch) {
        int before = (int) (place & 3);
        RandomWords.write(dropout, place >>> 2, (before + count + 3) / 4, scratch);
        return scratch + 4L * before;
    }

    /** Sets y to x times 0 or the constant, by words; y may be x. */
    public void apply(long words, long x, long y, int count) {
        RowLoop.drop(words, threshold, raise, x, y, count);
    }

    /** Sets y to x times {@code raise}, or to 0 if the unsigned word is below the threshold. */
    public static void apply(long words, int threshold, float raise, long x, long y, int count) {
        FloatVector raised = Lanes.all(raise);
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector factors = raised.blend(0f,
                    Lanes.loadInts(words, i).compare(VectorOperators.ULT, threshold).cast(Lanes.FLOATS));
            Lanes.store(Lanes.load(x, i).mul(factors), y, i);
        }
        for (int i = whole; i < count; i++) {
            boolean goes = Integer.compareUnsigned(Lanes.getInt(words, i), threshold) < 0;
            Lanes.set(y, i, Lanes.get(x, i) * (goes ? 0 : raise));
        }
    }
}
