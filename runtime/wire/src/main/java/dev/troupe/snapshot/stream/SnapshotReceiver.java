package dev.troupe.snapshot.stream;

import dev.troupe.snapshot.copy.CopyStore;
import dev.troupe.snapshot.copy.IncomingCopy;
import dev.troupe.snapshot.copy.SnapshotCopies;
import dev.troupe.snapshot.copy.SnapshotLayout;
import dev.troupe.snapshot.stream.CopyFrame.Part;
import dev.troupe.snapshot.stream.CopyFrame.Subject;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The receiver of copies from one sender. Belongs to the copying thread. */
final class SnapshotReceiver {
    private static final Logger LOG = LoggerFactory.getLogger(SnapshotReceiver.class);
    /** More than any layout, even of a hundred thousand tensors. */
    private static final long MOST_HEAD_BYTES = 16 << 20;
    private static final String OWNED = "a rank that came here, or a later copy, has its memory";

    /** The receiver of snapshots that this process cannot map. */
    interface Decliner {
        void decline(Subject shared, int receiverId);
    }

    private final CopyStore snapshots;
    private final SnapshotCopies.Listener listener;
    private final Decliner decliner;
    private final LiveCopyCounters counters;
    private int fromNode = -1;
    private boolean isSilenced;
    /** Null if no copy is being received; frames are then the rest of a refused copy, and are ignored. */
    private Subject subject;
    private CRC32C sum;
    private Part part;
    private long total;
    private long position;
    /** The bytes of a layout, or of the note of a shared snapshot. */
    private byte[] head;
    private IncomingCopy copy;

    SnapshotReceiver(CopyStore snapshots, SnapshotCopies.Listener listener, Decliner decliner,
            LiveCopyCounters counters) {
        this.snapshots = snapshots;
        this.listener = listener;
        this.decliner = decliner;
        this.counters = counters;
    }

    /** Returns the sending node; negative before the first frame. */
    int fromNode() {
        return fromNode;
    }

    boolean isInProgress() {
        return subject != null;
    }

    /** Ignores all further frames, since their sender counts as dead. */
    void silence() {
        isSilenced = true;
        if (isInProgress()) {
            refuse("its sender has died");
        }
    }

    /** Handles a frame. */
    void take(CopyFrame frame) {
        if (isSilenced) {
            return;
        }
        if (frame.part() != Part.BYTES && frame.offset() == 0) {
            if (isInProgress()) {
                refuse("its sender has broken it off");
            }
            begin(frame);
        }
        if (!isInProgress()) {
            return;
        }
        if (!frame.isOf(subject) || frame.part() != part || frame.total() != total || frame.offset() != position) {
            refuse("a part of it is missing");
            return;
        }
        sum.update(frame.payload());
        if ((int) sum.getValue() != frame.checksum()) {
            refuse("its checksum is " + Integer.toHexString(frame.checksum()) + ", but what came has "
                    + Integer.toHexString((int) sum.getValue()));
            return;
        }
        keep(frame.payloadSegment());
    }

    private void begin(CopyFrame frame) {
        subject = frame.subject();
        fromNode = subject.fromNode();
        sum = subject.checksum();
        part = frame.part();
        total = frame.total();
        position = 0;
        if (total > MOST_HEAD_BYTES) {
            refuse("its layout would have " + total + " bytes");
        } else {
            head = new byte[(int) total];
        }
    }

    private void keep(MemorySegment payload) {
        if (part != Part.BYTES) {
            MemorySegment.ofArray(head).asSlice(position, payload.byteSize()).copyFrom(payload);
        } else if (!copy.write(position, payload)) {
            refuse(OWNED);
            return;
        }
        position += payload.byteSize();
        if (position == total && part == Part.SHARED) {
            map();
        } else if (position == total && part == Part.LAYOUT) {
            makeRoom();
        }
        if (isInProgress() && position == total && part == Part.BYTES) {
            complete();
        }
    }

    private void map() {
        Subject shared = subject;
        try {
            SharedSnapshotNote note = SharedSnapshotNote.decode(head);
            subject = null;
            if (isThere(shared, note)) {
                counters.received.increment();
                tell(shared);
            }
        } catch (IllegalArgumentException none) {
            refuse(none.getMessage());
        }
    }

    private boolean isThere(Subject shared, SharedSnapshotNote note) {
        try {
            return snapshots.map(shared.rank(), shared.stage(), shared.stepsDone(), note.shared());
        } catch (IOException none) {
            LOG.debug("{} is asked for byte by byte: {}", shared, none.toString());
            decliner.decline(shared, note.receiverId());
            return false;
        }
    }

    private void makeRoom() {
        try {
            SnapshotLayout kept = SnapshotLayout.decode(head);
            Optional<IncomingCopy> accepted = snapshots.accept(subject.rank(), subject.stage(), subject.stepsDone(),
                    kept);
            part = Part.BYTES;
            total = kept.byteCount();
            position = 0;
            if (accepted.isPresent()) {
                copy = accepted.get();
            } else {
                Subject present = subject;
                subject = null;
                tell(present); // the sender may not know that the state is here
            }
        } catch (IllegalArgumentException | OutOfMemoryError refusal) {
            refuse(refusal.getMessage());
        }
    }

    private void complete() {
        if (!copy.complete()) {
            refuse(OWNED);
            return;
        }
        Subject whole = subject;
        subject = null;
        counters.received.increment();
        tell(whole);
    }

    private void tell(Subject whole) {
        try {
            listener.onCopied(whole.rank(), whole.stage(), whole.stepsDone());
        } catch (RuntimeException e) {
            // An error of the listener must not stop the copies of other stages.
            LOG.error("a listener of copies threw", e);
        }
    }

    /** Gives up the current copy. */
    void refuse(String why) {
        LOG.warn("a copy is not taken ({}): {}", subject, why);
        counters.refused.increment();
        subject = null;
    }
}
