package dev.troupe.snapshot.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.rank.snapshot.SampleState;
import dev.troupe.rank.snapshot.Snapshots;
import dev.troupe.snapshot.copy.OutgoingCopy;
import dev.troupe.snapshot.copy.SharedSnapshot;
import dev.troupe.snapshot.stream.CopyFrame.Part;
import dev.troupe.snapshot.stream.CopyFrame.Subject;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Frames of a copy as a stream may bring them: damaged, missing, twice, in another order. */
class SnapshotReceiverTest {
    private static final int PAYLOAD = 16;
    private static final int NODE = 3;
    private static final int RANK = 2;
    private static final int STAGE = 1;
    private static final int DOOR = 5;
    /** The bytes of a header that are not read, of 64. */
    private static final int UNUSED_BYTES = 11;

    private final SampleState state = new SampleState(5, 20);
    private final Snapshots there = new Snapshots(true);
    private final List<Long> heard = new ArrayList<>();
    private final List<String> declined = new ArrayList<>();
    private final LiveCopyCounters counters = new LiveCopyCounters();
    private final SnapshotReceiver receiver = receiver();
    private List<byte[]> first;
    private List<byte[]> second;

    @BeforeEach
    void write() {
        first = frames(1);
        second = frames(2);
    }

    @AfterEach
    void close() {
        there.close();
        state.close();
    }

    @Test
    void shouldTakeWholeCopies() {
        take(first);
        take(second);
        assertEquals(List.of(1L, 2L), heard);
        assertEquals(2, counters.counters().received());
        state.requireKept(there, RANK, STAGE, 1);
        state.requireKept(there, RANK, STAGE, 2);
    }

    @Test
    void shouldNeverTakeABitThatWasDamaged() {
        int unnoticed = 0;
        for (int frame = 0; frame < first.size(); frame++) {
            for (int bit = 0; bit < first.get(frame).length * Byte.SIZE; bit++) {
                List<byte[]> damaged = copy(first);
                damaged.get(frame)[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
                long refusedBefore = counters.counters().refused();
                take(damaged);
                if (there.versions(RANK, STAGE).isEmpty()) {
                    boolean isRefused = counters.counters().refused() > refusedBefore;
                    assertTrue(isRefused || frame == 0, "frame " + frame + " bit " + bit); // what never began is no copy
                } else {
                    state.requireKept(there, RANK, STAGE, 1);
                    there.forget(RANK, 2);
                    unnoticed++;
                }
            }
        }
        assertEquals(UNUSED_BYTES * Byte.SIZE * first.size(), unnoticed);
        take(first);
        state.requireKept(there, RANK, STAGE, 1);
    }

    @Test
    void shouldKeepTheEarlierCopyIfFramesAreLostOrRepeated() {
        take(first);
        for (int frame = 0; frame < second.size(); frame++) {
            List<byte[]> lost = copy(second);
            lost.remove(frame);
            take(lost);
            List<byte[]> twice = copy(second);
            twice.add(frame, second.get(frame));
            if (frame > 0 && frame < second.size() - 1) {
                take(twice);
            }
            assertEquals(List.of(1L), there.versions(RANK, STAGE), "frame " + frame);
        }
        state.requireKept(there, RANK, STAGE, 1);
        take(second);
        state.requireKept(there, RANK, STAGE, 2);
    }

    @Test
    void shouldTakeTheNextCopyWhenOneBreaksOff() {
        take(first.subList(0, first.size() - 1));
        take(second);
        assertEquals(List.of(2L), heard);
        assertEquals(1, counters.counters().refused());
    }

    @Test
    void shouldRefuseACopyWhenALaterOneHasItsMemory() {
        int last = first.size() - 1;
        for (int taken : new int[]{last - 1, last}) {
            there.forget(RANK, 2);
            long refusedBefore = counters.counters().refused();
            take(first.subList(0, taken));
            take(receiver(), first);
            assertEquals(refusedBefore, counters.counters().refused());
            take(first.subList(taken, first.size()));
            assertEquals(refusedBefore + 1, counters.counters().refused());
            assertFalse(receiver.isInProgress());
            state.requireKept(there, RANK, STAGE, 1);
        }
        assertEquals(List.of(1L, 1L), heard);
    }

    @Test
    void shouldReportACopyThatItHasAlready() {
        take(second);
        take(first);
        take(second);
        assertEquals(List.of(2L, 1L, 2L), heard, "an earlier one was not");
        assertEquals(2, counters.counters().received());
        assertEquals(0, counters.counters().refused());
        assertFalse(receiver.isInProgress());
    }

    @Test
    void shouldIgnoreADeadSender() {
        take(first);
        take(second.subList(0, 2));
        assertEquals(NODE, receiver.fromNode());
        receiver.silence();
        take(second);
        assertEquals(List.of(1L), heard);
        state.requireKept(there, RANK, STAGE, 1);
    }

    @Test
    void shouldDeclineMemoryThatIsNotThere() {
        take(shared(new SharedSnapshot(Integer.MAX_VALUE, 3, 7)));
        assertEquals(List.of(new Subject(NODE, RANK, STAGE, 1) + " at " + DOOR), declined);
        assertEquals(List.of(), heard);
        take(first);
        assertEquals(List.of(1L), heard, "the bytes come then");
    }

    @Test
    void shouldNeverMapANoteWithADamagedBit() {
        try (Snapshots here = new Snapshots(true)) {
            state.keep(here, RANK, STAGE, 1);
            List<byte[]> whole = shared(here.read(RANK, STAGE, 1).flatMap(OutgoingCopy::shared).orElseThrow());
            for (int frame = 0; frame < whole.size(); frame++) {
                for (int bit = 0; bit < whole.get(frame).length * Byte.SIZE; bit++) {
                    List<byte[]> damaged = copy(whole);
                    damaged.get(frame)[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
                    take(damaged);
                    if (!there.versions(RANK, STAGE).isEmpty()) {
                        state.requireKept(there, RANK, STAGE, 1);
                        there.forget(RANK, 2);
                    }
                }
            }
            assertEquals(List.of(), declined);
            take(whole);
            state.requireKept(there, RANK, STAGE, 1);
        }
    }

    private static List<byte[]> shared(SharedSnapshot shared) {
        Subject subject = new Subject(NODE, RANK, STAGE, 1);
        List<byte[]> frames = new ArrayList<>();
        add(frames, Part.SHARED, subject, new SharedSnapshotNote(DOOR, shared).encode(), subject.checksum());
        return frames;
    }

    private SnapshotReceiver receiver() {
        return new SnapshotReceiver(there, (_, _, stepsDone) -> heard.add(stepsDone),
                (offered, receiverId) -> declined.add(offered + " at " + receiverId), counters);
    }

    private void take(List<byte[]> frames) {
        take(receiver, frames);
    }

    private static void take(SnapshotReceiver receiver, List<byte[]> frames) {
        CopyFrame frame = new CopyFrame();
        for (byte[] bytes : frames) {
            UnsafeBuffer buffer = new UnsafeBuffer(ByteBuffer.allocateDirect(bytes.length));
            buffer.putBytes(0, bytes);
            if (frame.wrap(buffer, 0, bytes.length)) {
                receiver.take(frame);
            } else {
                receiver.refuse("no frame");
            }
        }
    }

    private static List<byte[]> copy(List<byte[]> frames) {
        return new ArrayList<>(frames.stream().map(byte[]::clone).toList());
    }

    /** The copy of a state after a number of steps, as a sender with short frames writes it. */
    private List<byte[]> frames(long steps) {
        try (Snapshots here = new Snapshots(false)) {
            state.keep(here, RANK, STAGE, steps);
            OutgoingCopy source = here.read(RANK, STAGE, steps).orElseThrow();
            byte[] bytes = new byte[(int) source.layout().byteCount()];
            source.read(0, MemorySegment.ofArray(bytes));
            Subject subject = new Subject(NODE, RANK, STAGE, steps);
            CRC32C sum = subject.checksum();
            List<byte[]> frames = new ArrayList<>();
            add(frames, Part.LAYOUT, subject, source.layout().encode(), sum);
            add(frames, Part.BYTES, subject, bytes, sum);
            return frames;
        }
    }

    private static void add(List<byte[]> frames, Part part, Subject subject, byte[] whole, CRC32C sum) {
        for (int offset = 0; offset < whole.length; offset += PAYLOAD) {
            byte[] payload = Arrays.copyOfRange(whole, offset, Math.min(whole.length, offset + PAYLOAD));
            sum.update(payload);
            byte[] frame = new byte[CopyFrame.HEADER_BYTES + payload.length];
            new CopyFrame().write(new UnsafeBuffer(frame), 0, part, subject, whole.length, offset,
                    (int) sum.getValue());
            System.arraycopy(payload, 0, frame, CopyFrame.HEADER_BYTES, payload.length);
            frames.add(frame);
        }
    }
}
