package dev.troupe.snapshot.stream;

import dev.troupe.protocol.replica.CopyQueue;
import dev.troupe.snapshot.copy.CopyStore;
import dev.troupe.snapshot.copy.OutgoingCopy;
import dev.troupe.snapshot.stream.CopyFrame.Part;
import dev.troupe.snapshot.stream.CopyFrame.Subject;
import dev.troupe.transport.tcp.WholeFrame;
import dev.troupe.wire.way.FrameWay;
import dev.troupe.wire.way.Outcome;
import java.lang.foreign.MemorySegment;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way of copies to another node, and the snapshots that wait for it: one copy after the other. Belongs to the copying
 * thread.
 */
final class SnapshotSender implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SnapshotSender.class);
    /** A mebibyte over IPC, some 0.3 ms, before other senders have their turn. */
    private static final int FRAMES_PER_TURN = 16;

    private final int self;
    private final int ownDoor;
    private final int door;
    private final FrameWay way;
    /** Its receiver sends nothing but the number of its frames, when there is a connection. */
    private final WholeFrame answers = new WholeFrame(CopyFrame.HEADER_BYTES, 0, (_, _) -> {
    }, _ -> MemorySegment.NULL);
    private final CopyStore snapshots;
    private final LiveCopyCounters counters;
    private final CopyFrame frame = new CopyFrame();
    private final Set<Subject> declined = new LinkedHashSet<>();
    private final CopyQueue waiting = new CopyQueue();
    /** The copy that is being sent, or null. */
    private Sending sending;
    private boolean isClosed;
    private boolean sharesMemory;

    /**
     * @param ownDoor the door of this process
     * @param door the door of the receiving process
     * @param sharesMemory whether the receiver is on the same machine, so that it may map the memory of a snapshot
     *     instead of receiving its bytes
     */
    SnapshotSender(int self, int ownDoor, int door, FrameWay way, CopyStore snapshots, LiveCopyCounters counters,
            boolean sharesMemory) {
        this.self = self;
        this.ownDoor = ownDoor;
        this.door = door;
        this.sharesMemory = sharesMemory;
        this.way = way;
        this.snapshots = snapshots;
        this.counters = counters;
    }

    void offer(int rank, int stage, long stepsDone) {
        waiting.offer(rank, stage, stepsDone);
    }

    /** Tells the other node that this process cannot map the memory of an offered snapshot. */
    void decline(Subject offered) {
        declined.add(new Subject(self, offered.rank(), offered.stage(), offered.stepsDone()));
    }

    /** The other node cannot map the memory of snapshots: their bytes are sent from now on, and this snapshot's at once. */
    void onDeclined(Subject offered) {
        if (sharesMemory) {
            LOG.info(
                    "the process of node {} cannot have memory of this one, though on the same machine (it runs as another user, or"
                            + " in another process namespace): snapshots go there byte by byte, which costs more",
                    offered.fromNode());
        }
        sharesMemory = false;
        offer(offered.rank(), offered.stage(), offered.stepsDone());
    }

    /** Whether the way leads to a door of the node. */
    boolean leadsTo(int itsDoor) {
        return door == itsDoor;
    }

    /** Whether a copy is being sent. */
    boolean isBusy() {
        return sending != null || !declined.isEmpty();
    }

    /** Whether the way has ended, so that another must be opened. */
    boolean isClosed() {
        return isClosed;
    }

    /** Sends a few frames; returns the amount of work. */
    int send() {
        int work = way.poll(answers, Integer.MAX_VALUE) + sendFrames();
        way.flush();
        return work;
    }

    private int sendFrames() {
        int frames = sendDeclined();
        while (frames < FRAMES_PER_TURN && (sending != null || begin())) {
            switch (sending.sendNext()) {
                case ACCEPTED -> frames += count();
                case BACK_PRESSURED, ADMIN_ACTION -> {
                    return frames;
                }
                case NOT_CONNECTED -> {
                    Subject unsent = sending.subject();
                    offer(unsent.rank(), unsent.stage(), unsent.stepsDone());
                    breakOff();
                }
                case CLOSED, MAX_POSITION_EXCEEDED -> {
                    isClosed = true;
                    breakOff();
                    return frames;
                }
            }
        }
        return frames;
    }

    /** Counts the frame that was taken last; returns 0 if there was none, since its snapshot is overwritten. */
    private int count() {
        if (sending.isOverwritten()) {
            breakOff();
            return 0;
        }
        counters.bytesSent.add(sending.lastBytes());
        if (sending.isDone()) {
            counters.sent.increment();
            sending = null;
        }
        return 1;
    }

    private int sendDeclined() {
        int frames = 0;
        for (Iterator<Subject> next = declined.iterator(); next.hasNext(); frames++) {
            Subject subject = next.next();
            if (way.tryClaim(CopyFrame.HEADER_BYTES, 0) != Outcome.ACCEPTED) {
                break; // its turn comes again, perhaps on another way
            }
            frame.write(way.buffer(), way.offset(), Part.DECLINED, subject, 0, 0,
                    (int) subject.checksum().getValue());
            way.commit();
            next.remove();
        }
        return frames;
    }

    /** Takes the existing snapshot that has waited longest; returns false if there is none, or no receiver. */
    private boolean begin() {
        while (sending == null && !waiting.isEmpty() && way.isConnected()) {
            CopyQueue.Version next = waiting.next().orElseThrow();
            Subject subject = new Subject(self, next.rank(), next.stage(), next.stepsDone());
            Optional<OutgoingCopy> source = snapshots.read(subject.rank(), subject.stage(), subject.stepsDone());
            if (source.isPresent()) {
                sending = new Sending(way, subject, source.get(), ownDoor, sharesMemory);
            } else {
                counters.brokenOff.increment();
            }
        }
        return sending != null;
    }

    private void breakOff() {
        counters.brokenOff.increment();
        sending = null;
    }

    @Override
    public void close() {
        if (sending != null) {
            breakOff();
        }
        way.close();
    }
}
