package dev.troupe.bits;

import dev.troupe.engine.DataType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * A digest of the bits of numbers: their CRC32C (RFC 3720), 31 bits of the sum of their words, and whether one of the
 * numbers is not finite. A change of one number always changes it; other changes cancel out with a probability of 2^-63.
 * Both halves are the same on every processor.
 *
 * <p>Thread rule: one thread at a time.
 */
final class BitHash {
    private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_PREFERRED;
    private static final ValueLayout.OfInt WORD = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    /** Stays in a core's cache between the two passes over it. */
    private static final int CHUNK_BYTES = 1 << 19;
    private static final long NOT_FINITE = 1;
    private static final long SMALLEST = 2;

    private final CRC32C crc = new CRC32C();
    private int sum;
    private int carried;
    // A number whose exponent is all ones carries into its sign when the lowest bit of the exponent is added to that.
    private long exponents;
    private long lowest;
    private long signs;

    /** Begins anew, for numbers of a type. */
    void begin(DataType type) {
        crc.reset();
        sum = 0;
        carried = 0;
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

    /** Takes in more numbers; of several calls only the last has other than whole groups of 64 bytes. */
    void add(MemorySegment numbers) {
        for (long at = 0; at < numbers.byteSize(); at += CHUNK_BYTES) {
            MemorySegment chunk = numbers.asSlice(at, Math.min(CHUNK_BYTES, numbers.byteSize() - at));
            crc.update(chunk.asByteBuffer());
            addWords(chunk);
        }
    }

    private void addWords(MemorySegment chunk) {
        int end = (int) chunk.byteSize();
        int whole = end - end % INTS.vectorByteSize();
        IntVector mask = broadcast(exponents);
        IntVector one = broadcast(lowest);
        IntVector sums = IntVector.zero(INTS);
        IntVector carries = IntVector.zero(INTS);
        for (int at = 0; at < whole; at += INTS.vectorByteSize()) {
            IntVector words = IntVector.fromMemorySegment(INTS, chunk, at, ByteOrder.LITTLE_ENDIAN);
            sums = sums.add(words);
            carries = carries.or(words.and(mask).add(one));
        }
        sum += sums.reduceLanes(VectorOperators.ADD);
        carried |= carries.and(broadcast(signs)).reduceLanes(VectorOperators.OR);
        for (int at = whole; at < end; at += Integer.BYTES) {
            int word = word(chunk, at, end);
            int half = at / Integer.BYTES % 2 * Integer.SIZE;
            sum += word;
            carried |= (word & (int) (exponents >>> half)) + (int) (lowest >>> half) & (int) (signs >>> half);
        }
    }

    private static IntVector broadcast(long pair) {
        return LongVector.broadcast(LongVector.SPECIES_PREFERRED, pair).reinterpretAsInts();
    }

    private static int word(MemorySegment chunk, int at, int end) {
        if (end - at >= Integer.BYTES) {
            return chunk.get(WORD, at);
        }
        int word = 0;
        for (int next = at; next < end; next++) {
            word |= Byte.toUnsignedInt(chunk.get(ValueLayout.JAVA_BYTE, next)) << Byte.SIZE * (next - at);
        }
        return word;
    }

    /** The digest of all that was taken in; never 0, which stands for none. */
    long digest() {
        return digest(crc.getValue() << Integer.SIZE | Integer.toUnsignedLong(sum) << 1 & 0xFFFF_FFFFL, carried == 0);
    }

    /** The digest of one number. */
    static long of(double number) {
        return digest(Double.doubleToRawLongBits(number) * 0x9E3779B185EBCA87L, Double.isFinite(number));
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
