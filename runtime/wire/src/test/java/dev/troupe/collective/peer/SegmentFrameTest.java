package dev.troupe.collective.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.collective.Call;
import dev.troupe.collective.Collective;
import dev.troupe.collective.Reduction;
import dev.troupe.engine.DataType;
import dev.troupe.wire.WireHeader;
import dev.troupe.wire.sbe.CopyEncoder;
import java.nio.charset.StandardCharsets;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/** Headers of frames between members: whole, damaged, and from other uses of the wire. */
class SegmentFrameTest {
    private static final int AT = 8;
    private static final byte[] PAYLOAD = "it stopped".getBytes(StandardCharsets.UTF_8);
    private static final int LENGTH = SegmentFrame.HEADER_BYTES + PAYLOAD.length;
    private static final int CHECKSUM_FROM = 4;
    private static final int CHECKSUM_TO = 8;

    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[AT + LENGTH]);
    private final SegmentFrame frame = new SegmentFrame();
    private final Call call = new Call();

    private void write(SegmentFrame.Kind kind) {
        new SegmentFrame().write(buffer, AT, kind, 7, 1L << 40, call, 3, 1L << 33, 5);
        buffer.putBytes(AT + SegmentFrame.HEADER_BYTES, PAYLOAD);
    }

    @Test
    void shouldReadBackEveryField() {
        call.reduce(Collective.REDUCE_SCATTER, DataType.BFLOAT16, Reduction.MAXIMUM, 1L << 34);
        for (SegmentFrame.Kind kind : SegmentFrame.Kind.values()) {
            write(kind);
            assertTrue(frame.wrap(buffer, AT, LENGTH));
            assertEquals(kind, frame.kind());
            assertEquals(7, frame.epoch());
            assertEquals(1L << 40, frame.sequence());
            assertEquals(3, frame.root());
            assertEquals(1L << 33, frame.offset());
            assertTrue(frame.isFor(5));
            assertFalse(frame.isFor(4));
            assertTrue(frame.call().matches(call), frame.call().toString());
            assertEquals("it stopped", frame.payloadText());
        }
    }

    @Test
    void shouldTakeOnlyTheBytesOfASegment() {
        call.barrier();
        write(SegmentFrame.Kind.CALL);
        assertFalse(frame.wrap(buffer, AT, SegmentFrame.HEADER_BYTES - 1), "too short");
        for (int bit = 0; bit < WireHeader.BYTES * Byte.SIZE; bit++) {
            int place = bit / Byte.SIZE;
            flip(bit);
            boolean isOfChecksum = place >= CHECKSUM_FROM && place < CHECKSUM_TO;
            assertEquals(isOfChecksum, frame.wrap(buffer, AT, LENGTH), "bit " + bit);
            flip(bit);
        }
        new WireHeader().write(buffer, AT, CopyEncoder.TEMPLATE_ID, CopyEncoder.BLOCK_LENGTH);
        assertFalse(frame.wrap(buffer, AT, LENGTH), "a copy's frame has the same length");
    }

    private void flip(int bit) {
        int place = AT + bit / Byte.SIZE;
        buffer.putByte(place, (byte) (buffer.getByte(place) ^ 1 << bit % Byte.SIZE));
    }
}
