package dev.troupe.batch;

/** The mixing of numbers into bits that look random. */
public final class Mixing {
    private Mixing() {
    }

    /**
     * Applies the finalizer of SplitMix64 (Steele, Lea and Flood 2014): every bit of the result depends on every input bit.
     */
    public static long mix(long value) {
        long bits = (value ^ value >>> 30) * 0xBF58476D1CE4E5B9L;
        bits = (bits ^ bits >>> 27) * 0x94D049BB133111EBL;
        return bits ^ bits >>> 31;
    }
}
