package dev.troupe.engine.digest;

import dev.troupe.engine.DataType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.stream.LongStream;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * A digest of the bits of numbers: 63 bits of a hash, and one bit that is set if a number is not finite. Numbers with other
 * bits have the same digest with a probability of 2^-63, unless they are chosen for it.
 *
 * <p>The numbers are read once, in chunks of 16 KiB; the hashes of chunks, each mixed with its place, are added up, so that
 * a device can compute them in parallel. A chunk is read in blocks of sixteen words of 64 bits. Each place in a block has
 * two states. The first is rotated before a word is added, so that the order of words counts; a constant is added too, so
 * that zeros also mix its bits. The second is the plain sum of the words. Without it, a flipped bit in one block and the
 * bit to which rotation has brought it, in the next block, could cancel out. Before the second half of a chunk, when
 * rotations begin again, each state is folded and multiplied by an odd number. At the end of the chunk the sums go through
 * the finish of SplitMix64 (Steele, Lea and Flood 2014) and are added to the first states. The digest of the chunk is the
 * sum of the first states, each with an odd factor of its place. It is the same on every processor, whatever the length of
 * its vectors, and on every device.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class BitHash {
    private static final VectorSpecies<Long> LONGS = LongVector.SPECIES_PREFERRED.length() > LongVector.SPECIES_512
            .length()
                    ? LongVector.SPECIES_512
                    : LongVector.SPECIES_PREFERRED;
    /** Two vectors of 512 bits: one is rotated while the other adds. */
    private static final int PLACES = 16;
    private static final int BLOCK_BYTES = PLACES * Long.BYTES;
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    /** Fits the first cache of a core: with vectors shorter than a block, a chunk is read once for each part of a block. */
    public static final int CHUNK_BYTES = 1 << 14;
    /** A block for each bit of a word: within a half, a bit is rotated to every place and back. */
    private static final int HALF_BYTES = Long.SIZE * BLOCK_BYTES;
    /** Coprime to 64, so that a bit is rotated to every place before it returns to its own. */
    private static final int TURN = 23;
    /** The golden ratio in 64 bits, as SplitMix64 has it. */
    private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;
    /** Odd, so that each bit of a sum counts. */
    private static final long[] FACTORS = LongStream.rangeClosed(1, PLACES).map(place -> finish(GOLDEN * place) | 1)
            .toArray();
    private static final long NOT_FINITE = 1;
    private static final long SMALLEST = 2;

    private final long[] states = new long[PLACES];
    private final long[] sums = new long[PLACES];
    private final long[] carries = new long[PLACES];
    private long chunkCount;
    private long total;
    private long byteCount;
    private boolean isFinite;
    // Whether all are finite: a one added at the lowest bit of an exponent carries into the sign if all its bits are ones.
    private long exponents;
    private long lowest;
    private long signs;

    /** Begins anew, for numbers of a type. */
    public void begin(DataType type) {
        chunkCount = 0;
        total = 0;
        byteCount = 0;
        isFinite = true;
        exponents = exponents(type);
        lowest = lowest(type);
        signs = signs(type);
    }

    /** The mask of the exponents of the numbers in a word; 0 for numbers that are always finite. */
    public static long exponents(DataType type) {
        return switch (type) {
            case FLOAT32 -> 0x7F80_0000_7F80_0000L;
            case BFLOAT16 -> 0x7F80_7F80_7F80_7F80L;
            case FLOAT64 -> 0x7FF0_0000_0000_0000L;
            case INT32 -> 0;
        };
    }

    /** The mask of the lowest bits of the exponents in a word. */
    public static long lowest(DataType type) {
        return switch (type) {
            case FLOAT32 -> 0x0080_0000_0080_0000L;
            case BFLOAT16 -> 0x0080_0080_0080_0080L;
            case FLOAT64 -> 0x0010_0000_0000_0000L;
            case INT32 -> 0;
        };
    }

    /** The mask of the signs in a word. */
    public static long signs(DataType type) {
        return exponents(type) << 1 & ~exponents(type);
    }

    /** Adds more numbers; only the last call may end within a chunk. */
    public void add(MemorySegment numbers) {
        for (long at = 0; at < numbers.byteSize(); at += CHUNK_BYTES) {
            MemorySegment chunk = numbers.asSlice(at, Math.min(CHUNK_BYTES, numbers.byteSize() - at));
            beginChunk();
            for (int place = 0; place < PLACES; place += 2 * LONGS.length()) {
                addBlocks(chunk, place);
            }
            addRest(chunk);
            endChunk();
        }
        byteCount += numbers.byteSize();
    }

    private void beginChunk() {
        for (int place = 0; place < PLACES; place++) {
            states[place] = GOLDEN * (place + 1);
            sums[place] = 0;
            carries[place] = 0;
        }
    }

    private void endChunk() {
        long mixed = 0;
        long carried = 0;
        for (int place = 0; place < PLACES; place++) {
            mixed += spread(states[place] + finish(sums[place]), FACTORS[place]);
            carried |= carries[place];
        }
        chunkCount++;
        total += finish(mixed + GOLDEN * chunkCount);
        isFinite &= (carried & signs) == 0;
    }

    /** Adds the words of whole blocks at the places of two vectors. */
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
        for (int half = 0; half < end; half += HALF_BYTES) {
            if (half > 0) {
                state = spread(state);
                nextState = spread(nextState);
                sum = spread(sum);
                nextSum = spread(nextSum);
            }
            int endOfHalf = Math.min(end, half + HALF_BYTES);
            for (int at = half + place * Long.BYTES; at < endOfHalf; at += BLOCK_BYTES) {
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
        }
        state.intoArray(states, place);
        nextState.intoArray(states, next);
        sum.intoArray(sums, place);
        nextSum.intoArray(sums, next);
        carried.intoArray(carries, place);
        nextCarried.intoArray(carries, next);
    }

    /** The upper half is folded down first, since a factor's highest bit changes only the highest bit of a product. */
    private static long spread(long state, long factor) {
        return (state ^ state >>> 32) * factor;
    }

    private static LongVector spread(LongVector state) {
        return state.lanewise(VectorOperators.XOR, state.lanewise(VectorOperators.LSHR, 32)).mul(GOLDEN);
    }

    private static int wholeBytes(MemorySegment chunk) {
        int end = (int) chunk.byteSize();
        return end - end % BLOCK_BYTES;
    }

    /** Adds the words after the last whole block; the last word is padded with 0. */
    private void addRest(MemorySegment chunk) {
        int end = (int) chunk.byteSize();
        int from = wholeBytes(chunk);
        for (int at = from; at < end; at += Long.BYTES) {
            int place = (at - from) / Long.BYTES;
            if (from == HALF_BYTES) {
                states[place] = spread(states[place], GOLDEN);
                sums[place] = spread(sums[place], GOLDEN);
            }
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

    /** The digest of all numbers so far; never 0, which means none. */
    public long digest() {
        return digest(finish(finish(total + GOLDEN) + byteCount), isFinite);
    }

    /** The finish of SplitMix64: each bit of the result depends on all bits, and no two numbers have the same result. */
    private static long finish(long number) {
        long mixed = (number ^ number >>> 30) * 0xBF58_476D_1CE4_E5B9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94D0_49BB_1331_11EBL;
        return mixed ^ mixed >>> 31;
    }

    public static long of(double number) {
        return digest(finish(Double.doubleToRawLongBits(number) + GOLDEN), Double.isFinite(number));
    }

    private static long digest(long bits, boolean isFinite) {
        long digest = bits & ~NOT_FINITE | (isFinite ? 0 : NOT_FINITE);
        return digest == 0 ? SMALLEST : digest;
    }

    /** Whether all numbers of a digest are finite. */
    public static boolean isFinite(long digest) {
        return (digest & NOT_FINITE) == 0;
    }
}
