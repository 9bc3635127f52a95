package dev.troupe.bits;

import dev.troupe.engine.DataType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * A digest of the bits of numbers: 63 bits of a hash, and whether one of the numbers is not finite. Numbers with other bits
 * have the same digest with a probability of 2^-63, unless they are chosen for it.
 *
 * <p>The numbers are read once, in blocks of sixteen words of 64 bits. Each place in a block has two states. One is rotated
 * before it takes in a word by addition, so that the order of words counts; a constant is added too, so that zeros also mix
 * its bits. The other is the sum of the words: alone, the first would take a bit that flips in one block for another bit in
 * the next. In the end the states go through the finish of SplitMix64 (Steele, Lea and Flood 2014), one after the other. The
 * digest is the same on every processor, whatever the length of its vectors.
 *
 * <p>Thread rule: one thread at a time.
 */
final class BitHash {
    private static final VectorSpecies<Long> LONGS = LongVector.SPECIES_PREFERRED.length() > LongVector.SPECIES_512
            .length()
                    ? LongVector.SPECIES_512
                    : LongVector.SPECIES_PREFERRED;
    /** Two vectors of 512 bits: while one waits for its rotation, the other is added to. */
    private static final int PLACES = 16;
    private static final int BLOCK_BYTES = PLACES * Long.BYTES;
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    /** Stays in a core's first cache where vectors are shorter than a block, and it is passed over for each of its parts. */
    private static final int CHUNK_BYTES = 1 << 14;
    /** Without a common divisor with 64, so that a bit comes to every place before it comes to its own again. */
    private static final int TURN = 23;
    /** The golden ratio in 64 bits, as SplitMix64 has it. */
    private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;
    private static final long NOT_FINITE = 1;
    private static final long SMALLEST = 2;

    private final long[] states = new long[PLACES];
    private final long[] sums = new long[PLACES];
    private final long[] carries = new long[PLACES];
    private long byteCount;
    // A number whose exponent is all ones carries into its sign when the lowest bit of the exponent is added to that.
    private long exponents;
    private long lowest;
    private long signs;

    /** Begins anew, for numbers of a type. */
    void begin(DataType type) {
        for (int place = 0; place < PLACES; place++) {
            states[place] = GOLDEN * (place + 1);
            sums[place] = 0;
            carries[place] = 0;
        }
        byteCount = 0;
        switch (type) {
            case FLOAT32 -> of(0x7F80_0000_7F80_0000L, 0x0080_0000_0080_0000L, 0x8000_0000_8000_0000L);
            case BFLOAT16 -> of(0x7F80_7F80_7F80_7F80L, 0x0080_0080_0080_0080L, 0x8000_8000_8000_8000L);
            case FLOAT64 -> of(0x7FF0_0000_0000_0000L, 0x0010_0000_0000_0000L, 0x8000_0000_0000_0000L);
            case INT32 -> of(0, 0, 0);
        }
    }

    private void of(long ofExponents, long ofLowest, long ofSigns) {
        exponents = ofExponents;
        lowest = ofLowest;
        signs = ofSigns;
    }

    /** Takes in more numbers; of several calls only the last has other than whole blocks of 128 bytes. */
    void add(MemorySegment numbers) {
        for (long at = 0; at < numbers.byteSize(); at += CHUNK_BYTES) {
            MemorySegment chunk = numbers.asSlice(at, Math.min(CHUNK_BYTES, numbers.byteSize() - at));
            for (int place = 0; place < PLACES; place += 2 * LONGS.length()) {
                addBlocks(chunk, place);
            }
            addRest(chunk);
        }
        byteCount += numbers.byteSize();
    }

    /** Takes in the words of whole blocks at as many places as two vectors have. */
    private void addBlocks(MemorySegment chunk, int place) {
        int next = place + LONGS.length();
        int end = wholeBytes(chunk);
        LongVector mask = LongVector.broadcast(LONGS, exponents);
        LongVector one = LongVector.broadcast(LONGS, lowest);
        LongVector golden = LongVector.broadcast(LONGS, GOLDEN);
        LongVector state = LongVector.fromArray(LONGS, states, place);
        LongVector nextState = LongVector.fromArray(LONGS, states, next);
        LongVector sum = LongVector.fromArray(LONGS, sums, place);
        LongVector nextSum = LongVector.fromArray(LONGS, sums, next);
        LongVector carried = LongVector.fromArray(LONGS, carries, place);
        LongVector nextCarried = LongVector.fromArray(LONGS, carries, next);
        for (int at = place * Long.BYTES; at < end; at += BLOCK_BYTES) {
            LongVector words = LongVector.fromMemorySegment(LONGS, chunk, at, ByteOrder.LITTLE_ENDIAN);
            LongVector nextWords = LongVector.fromMemorySegment(LONGS, chunk, at + LONGS.vectorByteSize(),
                    ByteOrder.LITTLE_ENDIAN);
            state = state.lanewise(VectorOperators.ROL, TURN).add(words.add(golden));
            nextState = nextState.lanewise(VectorOperators.ROL, TURN).add(nextWords.add(golden));
            sum = sum.add(words);
            nextSum = nextSum.add(nextWords);
            carried = carried.or(words.and(mask).add(one));
            nextCarried = nextCarried.or(nextWords.and(mask).add(one));
        }
        state.intoArray(states, place);
        nextState.intoArray(states, next);
        sum.intoArray(sums, place);
        nextSum.intoArray(sums, next);
        carried.intoArray(carries, place);
        nextCarried.intoArray(carries, next);
    }

    private static int wholeBytes(MemorySegment chunk) {
        int end = (int) chunk.byteSize();
        return end - end % BLOCK_BYTES;
    }

    /** Takes in the words behind the last whole block; what is missing of the last word is 0. */
    private void addRest(MemorySegment chunk) {
        int end = (int) chunk.byteSize();
        int from = wholeBytes(chunk);
        for (int at = from; at < end; at += Long.BYTES) {
            int place = (at - from) / Long.BYTES;
            long word = word(chunk, at, end);
            states[place] = Long.rotateLeft(states[place], TURN) + word + GOLDEN;
            sums[place] += word;
            carries[place] |= (word & exponents) + lowest;
        }
    }

    private static long word(MemorySegment chunk, int at, int end) {
        if (end - at >= Long.BYTES) {
            return chunk.get(WORD, at);
        }
        long word = 0;
        for (int next = at; next < end; next++) {
            word |= Byte.toUnsignedLong(chunk.get(ValueLayout.JAVA_BYTE, next)) << Byte.SIZE * (next - at);
        }
        return word;
    }

    /** The digest of all that was taken in; never 0, which stands for none. */
    long digest() {
        long mixed = byteCount;
        long carried = 0;
        for (int place = 0; place < PLACES; place++) {
            mixed = finish(finish(mixed + GOLDEN ^ states[place]) + GOLDEN ^ sums[place]);
            carried |= carries[place] & signs;
        }
        return digest(mixed, carried == 0);
    }

    /** The finish of SplitMix64: each bit of the result depends on all bits, and no two numbers have the same result. */
    private static long finish(long number) {
        long mixed = (number ^ number >>> 30) * 0xBF58_476D_1CE4_E5B9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94D0_49BB_1331_11EBL;
        return mixed ^ mixed >>> 31;
    }

    /** The digest of one number. */
    static long of(double number) {
        return digest(finish(Double.doubleToRawLongBits(number) + GOLDEN), Double.isFinite(number));
    }

    private static long digest(long bits, boolean isFinite) {
        long digest = bits & ~NOT_FINITE | (isFinite ? 0 : NOT_FINITE);
        return digest == 0 ? SMALLEST : digest;
    }

    /** Whether all numbers of a digest are finite. */
    static boolean isFinite(long digest) {
        return (digest & NOT_FINITE) == 0;
    }
}
