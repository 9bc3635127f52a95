package dev.troupe.engine.reference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.Bfloat16;
import dev.troupe.engine.DataType;
import dev.troupe.engine.digest.BitHash;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("plan")
class BitHashTest {
    private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;

    private final BitHash hash = new BitHash();
    private final Arena arena = Arena.ofAuto();

    private long digest(DataType type, MemorySegment bytes) {
        hash.begin(type);
        hash.add(bytes);
        return hash.digest();
    }

    private MemorySegment random(int bytes) {
        byte[] content = new byte[bytes];
        new Random(bytes).nextBytes(content);
        MemorySegment segment = arena.allocate(Math.max(1, bytes), 64).asSlice(0, bytes);
        segment.copyFrom(MemorySegment.ofArray(content));
        return segment;
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4, 36, 64, 66, 260, 1100, 17_000})
    void shouldDetectEveryFlippedBit(int bytes) {
        MemorySegment content = random(bytes);
        Set<Long> seen = new HashSet<>(Set.of(digest(DataType.INT32, content)));
        for (int bit = 0; bit < Byte.SIZE * bytes; bit++) {
            byte whole = content.get(ValueLayout.JAVA_BYTE, bit / Byte.SIZE);
            content.set(ValueLayout.JAVA_BYTE, bit / Byte.SIZE, (byte) (whole ^ 1 << bit % Byte.SIZE));
            assertTrue(seen.add(digest(DataType.INT32, content)), "bit " + bit);
            content.set(ValueLayout.JAVA_BYTE, bit / Byte.SIZE, whole);
        }
    }

    @Test
    void shouldDetectTwoNumbersThatSwapPlacesOrSigns() {
        MemorySegment content = arena.allocateFrom(ValueLayout.JAVA_FLOAT, 1, 2, 3, 4);
        Set<Long> digests = new HashSet<>(Set.of(digest(DataType.FLOAT32, content)));
        assertTrue(digests.add(digest(DataType.FLOAT32, arena.allocateFrom(ValueLayout.JAVA_FLOAT, 2, 1, 3, 4))));
        assertTrue(digests.add(digest(DataType.FLOAT32, arena.allocateFrom(ValueLayout.JAVA_FLOAT, -1, -2, 3, 4))));
        assertTrue(digests.add(digest(DataType.FLOAT32, arena.allocateFrom(ValueLayout.JAVA_FLOAT, -1, 2, -3, 4))));
    }

    @Test
    void shouldSeeTwoChunksThatChangePlaces() {
        MemorySegment content = random(3 * BitHash.CHUNK_BYTES);
        MemorySegment turned = arena.allocate(content.byteSize(), 64).copyFrom(content);
        turned.asSlice(0, BitHash.CHUNK_BYTES).copyFrom(content.asSlice(BitHash.CHUNK_BYTES, BitHash.CHUNK_BYTES));
        turned.asSlice(BitHash.CHUNK_BYTES, BitHash.CHUNK_BYTES).copyFrom(content.asSlice(0, BitHash.CHUNK_BYTES));
        assertNotEquals(digest(DataType.INT32, content), digest(DataType.INT32, turned));
    }

    /** The highest bit of a word is a sign, and a multiplication of words may lose it. */
    @ParameterizedTest
    @ValueSource(ints = {128, 1_024, 40_000})
    void shouldDetectEveryPairOfFlippedSigns(int bytes) {
        MemorySegment content = random(bytes);
        Set<Long> seen = new HashSet<>(Set.of(digest(DataType.FLOAT32, content)));
        int words = bytes / Long.BYTES;
        for (int one = Math.max(0, words - 16); one < words; one++) {
            for (int other = one + 1; other < words; other++) {
                turn(content, one);
                turn(content, other);
                assertTrue(seen.add(digest(DataType.FLOAT32, content)), "words " + one + " and " + other);
                turn(content, one);
                turn(content, other);
            }
        }
    }

    private static void turn(MemorySegment content, int word) {
        content.setAtIndex(ValueLayout.JAVA_LONG, word,
                content.getAtIndex(ValueLayout.JAVA_LONG, word) ^ Long.MIN_VALUE);
    }

    /** An embedding's gradient is mostly zeros, and runs may differ in the place of a row. */
    @Test
    void shouldDetectARowThatMovesAmongZeros() {
        int rowBytes = 64;
        Set<Long> digests = new HashSet<>();
        for (int row = 0; row < 400; row++) {
            MemorySegment content = arena.allocate(400L * rowBytes, 64);
            for (int place = 0; place < rowBytes / Float.BYTES; place++) {
                content.setAtIndex(ValueLayout.JAVA_FLOAT, (long) row * rowBytes / Float.BYTES + place, 0.5f);
            }
            assertTrue(digests.add(digest(DataType.FLOAT32, content)), "row " + row);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 8, 127, 128, 129, 384, 8192, 8196, 8320, 16_384, 16_388, 100_007})
    void shouldHaveTheDigestOfPlainLoopsOnEveryProcessor(int bytes) {
        MemorySegment content = random(bytes);
        assertEquals(plain(content) | 1, digest(DataType.FLOAT32, content) | 1);
    }

    /** The digest of bytes, chunk by chunk and word by word. */
    private static long plain(MemorySegment content) {
        long total = 0;
        for (int first = 0; first < content.byteSize(); first += 16_384) {
            long end = Math.min(first + 16_384, content.byteSize());
            total += finish(plainChunk(content.asSlice(first, end - first)) + GOLDEN * (first / 16_384 + 1));
        }
        return finish(finish(total + GOLDEN) + content.byteSize());
    }

    private static long plainChunk(MemorySegment content) {
        long[] states = new long[16];
        long[] sums = new long[16];
        Arrays.setAll(states, place -> GOLDEN * (place + 1));
        for (int at = 0; at < content.byteSize(); at += Long.BYTES) {
            byte[] word = new byte[Long.BYTES];
            MemorySegment.copy(content, ValueLayout.JAVA_BYTE, at, word, 0,
                    (int) Math.min(Long.BYTES, content.byteSize() - at));
            int place = at / Long.BYTES % states.length;
            if (at / (Long.BYTES * states.length) == 64) { // the first block of the second half
                states[place] = (states[place] ^ states[place] >>> 32) * GOLDEN;
                sums[place] = (sums[place] ^ sums[place] >>> 32) * GOLDEN;
            }
            long number = ByteBuffer.wrap(word).order(ByteOrder.LITTLE_ENDIAN).getLong();
            states[place] = Long.rotateLeft(states[place], 23) + GOLDEN + number;
            sums[place] += number;
        }
        long mixed = 0;
        for (int place = 0; place < states.length; place++) {
            long both = states[place] + finish(sums[place]);
            mixed += (both ^ both >>> 32) * (finish(GOLDEN * (place + 1)) | 1);
        }
        return mixed;
    }

    private static long finish(long number) {
        long mixed = (number ^ number >>> 30) * 0xBF58_476D_1CE4_E5B9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94D0_49BB_1331_11EBL;
        return mixed ^ mixed >>> 31;
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT32", "FLOAT64", "BFLOAT16"})
    void shouldFindEachNumberThatIsNotFinite(DataType type) {
        int count = 75;
        MemorySegment content = arena.allocate((long) count * type.elementBytes(), 64);
        for (double other : new double[]{Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
            for (int place = 0; place < count; place++) {
                fill(type, content, count);
                assertTrue(BitHash.isFinite(digest(type, content)), type + " of finite numbers");
                set(type, content, place, other);
                assertFalse(BitHash.isFinite(digest(type, content)), other + " at " + place);
            }
        }
    }

    private static void fill(DataType type, MemorySegment content, int count) {
        for (int place = 0; place < count; place++) {
            set(type, content, place, place % 2 == 0 ? -3e38 / (place + 1) : place);
        }
    }

    private static void set(DataType type, MemorySegment content, int place, double number) {
        switch (type) {
            case FLOAT32 -> content.setAtIndex(ValueLayout.JAVA_FLOAT, place, (float) number);
            case FLOAT64 -> content.setAtIndex(ValueLayout.JAVA_DOUBLE, place, number);
            default -> content.setAtIndex(ValueLayout.JAVA_SHORT, place, Bfloat16.of((float) number));
        }
    }

    @Test
    void shouldDigestALoss() {
        assertNotEquals(BitHash.of(1.25), BitHash.of(Math.nextUp(1.25)));
        assertTrue(BitHash.isFinite(BitHash.of(0)) && BitHash.of(0) != 0);
        assertFalse(BitHash.isFinite(BitHash.of(Double.NaN)));
    }
}
