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
 * The sender of copies to another node: the queue of snapshots, sent one after the other. Belongs to the copying thread.
 */
final class SnapshotSender implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SnapshotSender.class);
    /** Frames before the turn of the next sender: a mebibyte over IPC, about 0.3 ms. */
    private static final int FRAMES_PER_TURN = 16;

    private final int self;
    private final int ownReceiverId;
    private final int receiverId;
    private final FrameWay way;
    /** The frames from the receiver on a connection: only its counts. */
    private final WholeFrame answers = new WholeFrame(CopyFrame.HEADER_BYTES, 0, (_, _) -> {
    }, _ -> MemorySegment.NULL);
    private final CopyStore snapshots;
    private final LiveCopyCounters counters;
    private final CopyFrame frame = new CopyFrame();
    private final Set<Subject> declined = new LinkedHashSet<>();
    private final CopyQueue waiting = new CopyQueue();
    /** The copy in progress, or null. */
    private Sending sending;
    private boolean isClosed;
    private boolean sharesMemory;

    /**
     * @param ownReceiverId the number under which this process receives copies
     * @param sharesMemory whether the receiver is on the same machine, so that it may map a snapshot's memory
     */
    SnapshotSender(int self, int ownReceiverId, int receiverId, FrameWay way, CopyStore snapshots,
            LiveCopyCounters counters,
            boolean sharesMemory) {
        this.self = self;
        this.ownReceiverId = ownReceiverId;
        this.receiverId = receiverId;
        this.sharesMemory = sharesMemory;
        this.way = way;
        this.snapshots = snapshots;
        this.counters = counters;
    }

    void offer(int rank, int stage, long stepsDone) {
        waiting.offer(rank, stage, stepsDone);
    }

    /** Reports to the other node that this process cannot map the memory of an offered snapshot. */
    void decline(Subject offered) {
        declined.add(new Subject(self, offered.rank(), offered.stage(), offered.stepsDone()));
    }

    /** Handles a report that the other node cannot map a snapshot: sends this one again, and all later ones, as bytes. */
    void onDeclined(Subject offered) {
        if (sharesMemory) {
            LOG.info(
                    "the process of node {} is on this machine but cannot map memory of this process (it runs as another user,"
                            + " or in another process namespace), so snapshots are copied to it, which takes more time",
                    offered.fromNode());
        }
        sharesMemory = false;
        offer(offered.rank(), offered.stage(), offered.stepsDone());
    }

    boolean leadsTo(int itsReceiverId) {
        return receiverId == itsReceiverId;
    }

    /** Returns whether a copy is being sent. */
    boolean isBusy() {
        return sending != null || !declined.isEmpty();
    }

    /** Returns whether the way has ended, so that another must be opened. */
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

    /**
     * Counts the last frame and returns 1. If its snapshot was overwritten, nothing was sent: ends the copy and returns 0.
     */
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
                break; // sent later
            }
            frame.write(way.buffer(), way.offset(), Part.DECLINED, subject, 0, 0,
                    (int) subject.checksum().getValue());
            way.commit();
            next.remove();
        }
        return frames;
    }

    /** Begins the copy that has waited longest; returns false if no snapshot waits or no receiver is connected. */
    private boolean begin() {
        while (sending == null && !waiting.isEmpty() && way.isConnected()) {
            CopyQueue.Version next = waiting.next().orElseThrow();
            Subject subject = new Subject(self, next.rank(), next.stage(), next.stepsDone());
            Optional<OutgoingCopy> source = snapshots.read(subject.rank(), subject.stage(), subject.stepsDone());
            if (source.isPresent()) {
                sending = new Sending(way, subject, source.get(), ownReceiverId, sharesMemory);
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
