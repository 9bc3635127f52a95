package dev.troupe.transport.frame;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKind;
import dev.troupe.transport.DropReason;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.link.Samples;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;
import java.util.function.Consumer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class FrameTest {
    /** The places of fields: 16 bytes of header, then the block in the order of the schema. */
    private static final int STEP = 16;
    private static final int BYTE_COUNT = 24;
    private static final int FRAGMENT_OFFSET = 32;
    private static final int FRAGMENT_LENGTH = 40;
    private static final int EPOCH = 44;
    private static final int FROM_RANK = 48;
    private static final int STAGE = 56;
    private static final int MICROBATCH = 60;
    private static final int SIZES = 68;
    private static final int KIND = 84;
    private static final int DATA_TYPE = 85;
    private static final int TENSOR_RANK = 86;

    private final Edge edge = new Edge(3, 65535, 7, MessageKind.SHARED_GRADIENT);
    private final MessageId id = new MessageId(2, 1L << 40, edge, 11);
    private final Tensor tensor = Samples.random(1, 2, 3, 1, 5);
    private final Frame frame = new Frame(true);

    private DropReason read(UnsafeBuffer bytes) {
        return frame.read(bytes, 0, bytes.capacity());
    }

    private UnsafeBuffer sample() {
        return Samples.fragment(id, tensor, 64, 56);
    }

    @Test
    void shouldReadBackEveryFieldOfAFragment() {
        assertNull(read(sample()));
        assertFalse(frame.isCredit());
        assertEquals(id, frame.id());
        assertEquals(edge.key(), frame.edgeKey());
        assertEquals(11, frame.number(), "that of the microbatch, in these tests");
        assertEquals(120, frame.byteCount());
        assertEquals(64, frame.fragmentOffset());
        assertEquals(56, frame.fragmentLength());
        assertEquals(2, frame.rows());
        assertTrue(frame.fits(DataType.INT32, Shape.of(2, 3, 1, 5), 2));
        assertFalse(frame.fits(DataType.FLOAT32, Shape.of(2, 3, 1, 5), 2));
        assertFalse(frame.fits(DataType.INT32, Shape.of(2, 3, 5), 2));
        assertFalse(frame.fits(DataType.INT32, Shape.of(2, 3, 5, 1), 2));
        assertTrue(frame.fits(DataType.INT32, Shape.of(4, 3, 1, 5), 2), "fewer rows than the buffer has");
        assertFalse(frame.fits(DataType.INT32, Shape.of(4, 3, 1, 5), 4));
        assertFalse(frame.fits(DataType.INT32, Shape.of(1, 3, 1, 5), 2), "more rows than the buffer has");
        assertArrayEquals(Arrays.copyOfRange(Samples.bytes(tensor), 64, 120),
                frame.payload().toArray(ValueLayout.JAVA_BYTE));
    }

    @Test
    void shouldReadBackEveryFieldOfACredit() {
        assertNull(read(Samples.credit(4, edge, 9)));
        assertTrue(frame.isCredit());
        assertEquals(4, frame.epoch());
        assertEquals(edge, frame.edge());
        assertEquals(9, frame.count());
    }

    @Test
    void shouldReadAFrameInTheMiddleOfABuffer() {
        UnsafeBuffer alone = sample();
        UnsafeBuffer wide = Samples.buffer(1024);
        wide.putBytes(256, alone, 0, alone.capacity());
        UnsafeBuffer part = new UnsafeBuffer(wide, 128, 512);
        assertNull(frame.read(part, 128, alone.capacity()));
        assertEquals(id, frame.id());
    }

    @Test
    void shouldFindEveryFlippedBit() {
        for (UnsafeBuffer bytes : new UnsafeBuffer[]{sample(), Samples.credit(4, edge, 9)}) {
            for (int bit = 0; bit < 8 * bytes.capacity(); bit++) {
                flip(bytes, bit);
                DropReason expected = bit < 32
                        ? DropReason.BAD_MAGIC
                        : bit < 96 || bit >= 128 ? DropReason.BAD_CHECKSUM : DropReason.BAD_VERSION;
                assertEquals(expected, read(bytes), "bit " + bit);
                flip(bytes, bit);
            }
            assertNull(read(bytes));
        }
    }

    @Test
    void shouldCheckTheHeaderAloneIfThePayloadStaysInTheProcess() {
        Frame own = new Frame(false);
        UnsafeBuffer bytes = Samples.fragment(new FrameWriter(false), id, tensor, 0, 64);
        assertNull(own.read(bytes, 0, bytes.capacity()));
        assertEquals(DropReason.BAD_CHECKSUM, frame.read(bytes, 0, bytes.capacity()), "a reader that checks payloads");
        flip(bytes, 8 * FrameWriter.FRAGMENT_HEADER_BYTES);
        assertNull(own.read(bytes, 0, bytes.capacity()), "a bit of the payload");
        flip(bytes, 8 * FrameWriter.FRAGMENT_HEADER_BYTES - 1);
        assertEquals(DropReason.BAD_CHECKSUM, own.read(bytes, 0, bytes.capacity()), "a bit of the header");

        UnsafeBuffer credit = Samples.credit(4, edge, 9);
        assertNull(own.read(credit, 0, credit.capacity()));
        flip(credit, 8 * credit.capacity() - 1);
        assertEquals(DropReason.BAD_CHECKSUM, own.read(credit, 0, credit.capacity()), "a bit of a credit");
    }

    @Test
    void shouldFindEveryTruncation() {
        UnsafeBuffer bytes = sample();
        for (int length = 0; length < bytes.capacity(); length++) {
            assertEquals(length < 16 ? DropReason.BAD_LENGTH : DropReason.BAD_CHECKSUM, frame.read(bytes, 0, length));
        }
    }

    @Test
    void shouldRefuseLyingFieldsUnderAGoodChecksum() {
        assertNull(read(Samples.resealed(sample())));
        refused(DropReason.BAD_FIELD, frame -> frame.putLong(STEP, -1));
        refused(DropReason.BAD_FIELD, frame -> frame.putLong(BYTE_COUNT, 124));
        refused(DropReason.BAD_FIELD, frame -> frame.putLong(BYTE_COUNT, Long.MIN_VALUE));
        refused(DropReason.BAD_FIELD, frame -> frame.putLong(FRAGMENT_OFFSET, -4));
        refused(DropReason.BAD_FIELD, frame -> frame.putLong(FRAGMENT_OFFSET, 68));
        refused(DropReason.BAD_FIELD, frame -> frame.putLong(FRAGMENT_OFFSET, 2));
        refused(DropReason.BAD_FIELD, frame -> frame.putLong(FRAGMENT_OFFSET, Long.MAX_VALUE));
        refused(DropReason.BAD_LENGTH, frame -> frame.putInt(FRAGMENT_LENGTH, 60));
        refused(DropReason.BAD_LENGTH, frame -> frame.putInt(FRAGMENT_LENGTH, -1));
        refused(DropReason.BAD_FIELD, frame -> frame.putInt(EPOCH, -1));
        refused(DropReason.BAD_FIELD, frame -> frame.putInt(FROM_RANK, 65536));
        refused(DropReason.BAD_FIELD, frame -> frame.putInt(STAGE, -1));
        refused(DropReason.BAD_FIELD, frame -> frame.putInt(MICROBATCH, Integer.MIN_VALUE));
        refused(DropReason.BAD_FIELD, frame -> frame.putInt(SIZES, 0));
        refused(DropReason.BAD_FIELD, frame -> frame.putInt(SIZES, -2));
        refused(DropReason.BAD_FIELD, frame -> {
            // Their product overflows to something small.
            frame.putInt(SIZES, 1 << 30);
            frame.putInt(SIZES + 4, 1 << 30);
            frame.putInt(SIZES + 8, 1 << 30);
        });
        refused(DropReason.BAD_FIELD, frame -> frame.putByte(KIND, (byte) 0));
        refused(DropReason.BAD_FIELD, frame -> frame.putByte(KIND, (byte) 200));
        refused(DropReason.BAD_FIELD, frame -> frame.putByte(DATA_TYPE, (byte) 77));
        refused(DropReason.BAD_FIELD, frame -> frame.putByte(TENSOR_RANK, (byte) 3));
        refused(DropReason.BAD_FIELD, frame -> frame.putByte(TENSOR_RANK, (byte) 5));
        refused(DropReason.BAD_FIELD, frame -> frame.putByte(TENSOR_RANK, (byte) 255));
        refused(DropReason.BAD_VERSION, frame -> frame.putShort(10, (short) 3));
        refused(DropReason.BAD_VERSION, frame -> frame.putShort(8, (short) 64));
    }

    private void refused(DropReason reason, Consumer<UnsafeBuffer> lie) {
        UnsafeBuffer bytes = sample();
        lie.accept(bytes);
        assertEquals(reason, read(Samples.resealed(bytes)));
    }

    @Test
    void shouldRefuseCreditsThatCannotBe() {
        for (int count : new int[]{0, -1, Frame.MAX_CREDITS + 1, Integer.MIN_VALUE}) {
            assertEquals(DropReason.BAD_FIELD, read(Samples.credit(0, edge, count)));
        }
        UnsafeBuffer longer = Samples.buffer(FrameWriter.CREDIT_BYTES + 8);
        longer.putBytes(0, Samples.credit(0, edge, 1), 0, FrameWriter.CREDIT_BYTES);
        assertEquals(DropReason.BAD_LENGTH, read(Samples.resealed(longer)));
        assertEquals(DropReason.BAD_LENGTH, read(Samples.resealed(shortened(sample(), 40))));
    }

    @Test
    void shouldDistinguishADamagedPartOfAMessageFromOtherBytes() {
        UnsafeBuffer damaged = sample(); // of epoch 2
        flip(damaged, 8 * MICROBATCH);
        assertEquals(DropReason.BAD_CHECKSUM, read(damaged));
        assertTrue(mayBeOfMessage(damaged, 2));
        assertTrue(mayBeOfMessage(damaged, 0));
        assertFalse(mayBeOfMessage(damaged, 3), "what it says it is of is given up");
        assertFalse(mayBeOfMessage(Samples.credit(4, edge, 9), 0));
        assertFalse(mayBeOfMessage(Samples.buffer(16), 0));
    }

    private boolean mayBeOfMessage(UnsafeBuffer bytes, int presentEpoch) {
        return frame.mayBeOfMessage(bytes, 0, bytes.capacity(), presentEpoch);
    }

    private static UnsafeBuffer shortened(UnsafeBuffer bytes, int length) {
        UnsafeBuffer copy = Samples.buffer(length);
        copy.putBytes(0, bytes, 0, length);
        return copy;
    }

    @Test
    void shouldSurviveAnyBytes() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 20_000; round++) {
            UnsafeBuffer bytes = random.nextBoolean() ? sample() : Samples.credit(1, edge, 1);
            int from = random.nextInt(4) == 0 ? 0 : 8;
            for (int change = random.nextInt(6); change >= 0; change--) {
                bytes.putByte(from + random.nextInt(bytes.capacity() - from), (byte) random.nextInt());
            }
            // Half of them with a good checksum, or nothing after it would ever be reached.
            boolean sealed = random.nextBoolean();
            int length = random.nextInt(8) == 0 ? random.nextInt(bytes.capacity()) : bytes.capacity();
            DropReason reason = frame.read(sealed ? Samples.resealed(bytes) : bytes, 0, length);
            if (reason == null && !frame.isCredit()) {
                String where = "seed " + seed + ", round " + round;
                assertNotNull(frame.id(), where);
                assertEquals(bytes.capacity() - FrameWriter.FRAGMENT_HEADER_BYTES, frame.payload().byteSize(), where);
                assertTrue(frame.fragmentOffset() + frame.fragmentLength() <= frame.byteCount(), where);
            }
        }
    }

    private static void flip(UnsafeBuffer bytes, int bit) {
        bytes.putByte(bit / 8, (byte) (bytes.getByte(bit / 8) ^ 1 << bit % 8));
    }
}
