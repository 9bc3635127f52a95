package dev.troupe.snapshot.aeron;

import dev.troupe.snapshot.OutgoingCopy;
import dev.troupe.snapshot.Snapshots;
import dev.troupe.snapshot.aeron.CopyFrame.Part;
import dev.troupe.snapshot.aeron.CopyFrame.Subject;
import io.aeron.ExclusivePublication;
import io.aeron.logbuffer.BufferClaim;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The stream to another node, and what waits for it: one copy after the other. Belongs to the copying thread. */
final class SnapshotSender implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SnapshotSender.class);
    /** A mebibyte over IPC, some 0.3 ms, before others have their turn. */
    private static final int FRAMES_PER_TURN = 16;
    private static final int MOST_VERSIONS = 2;

    private record Place(int rank, int stage) {
    }

    private final int self;
    private final int ownDoor;
    private final int door;
    private final ExclusivePublication stream;
    private final Snapshots snapshots;
    private final LiveCopyCounters counters;
    private final BufferClaim claim = new BufferClaim();
    private final Set<Subject> declined = new LinkedHashSet<>();
    /** The versions of each stage that are to go, those stages first that have waited longest. */
    private final Map<Place, TreeSet<Long>> waiting = new LinkedHashMap<>();
    /** Null while none is under way. */
    private Sending sending;
    private boolean isClosed;
    private boolean sharesMemory;

    /**
     * @param ownDoor
     *            of this process
     * @param door
     *            of the one that it leads to
     * @param sharesMemory
     *            whether that one is on the same machine, and so may have the memory of a snapshot instead of its bytes
     */
    SnapshotSender(int self, int ownDoor, int door, ExclusivePublication stream, Snapshots snapshots,
            LiveCopyCounters counters,
            boolean sharesMemory) {
        this.self = self;
        this.ownDoor = ownDoor;
        this.door = door;
        this.sharesMemory = sharesMemory;
        this.stream = stream;
        this.snapshots = snapshots;
        this.counters = counters;
    }

    void offer(int rank, int stage, long stepsDone) {
        TreeSet<Long> versions = waiting.computeIfAbsent(new Place(rank, stage), _ -> new TreeSet<>());
        versions.add(stepsDone);
        if (versions.size() > MOST_VERSIONS) {
            versions.removeFirst();
        }
    }

    /** Says there that this process cannot have the memory of a snapshot that was offered. */
    void decline(Subject offered) {
        declined.add(new Subject(self, offered.rank(), offered.stage(), offered.stepsDone()));
    }

    /** There the memory of snapshots cannot be had: their bytes go from now on, of this one at once. */
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

    /** Whether it leads there. */
    boolean leadsTo(int itsDoor) {
        return door == itsDoor;
    }

    /** Whether a copy is under way. */
    boolean isBusy() {
        return sending != null || !declined.isEmpty();
    }

    /** Whether the stream has come to its end, and another is to be opened. */
    boolean isClosed() {
        return isClosed;
    }

    /** Sends a few frames; returns how many. */
    int send() {
        int frames = sendDeclined();
        while (frames < FRAMES_PER_TURN && (sending != null || begin())) {
            switch (sending.sendNext(stream, claim)) {
                case SENT -> {
                    frames++;
                    counters.bytesSent.add(claim.length());
                    if (sending.isDone()) {
                        counters.sent.increment();
                        sending = null;
                    }
                }
                case LATER -> {
                    return frames;
                }
                case GONE -> breakOff();
                case UNHEARD -> {
                    Subject unheard = sending.subject();
                    offer(unheard.rank(), unheard.stage(), unheard.stepsDone());
                    breakOff();
                }
                case CLOSED -> {
                    isClosed = true;
                    breakOff();
                    return frames;
                }
            }
        }
        return frames;
    }

    private int sendDeclined() {
        int frames = 0;
        for (Iterator<Subject> next = declined.iterator(); next.hasNext(); frames++) {
            Subject subject = next.next();
            if (stream.tryClaim(CopyFrame.HEADER_BYTES, claim) <= 0) {
                break; // its turn comes again, if not on this stream
            }
            CopyFrame.write(claim.buffer(), claim.offset(), Part.DECLINED, subject, 0, 0,
                    (int) subject.checksum().getValue());
            claim.commit();
            next.remove();
        }
        return frames;
    }

    /** Takes what has waited longest, and is still there; false where nothing has, or nobody would hear it. */
    private boolean begin() {
        while (sending == null && !waiting.isEmpty() && stream.isConnected()) {
            Place first = waiting.keySet().iterator().next();
            TreeSet<Long> versions = waiting.remove(first);
            Subject subject = new Subject(self, first.rank(), first.stage(), versions.removeFirst());
            if (!versions.isEmpty()) {
                waiting.put(first, versions); // after those that wait as long
            }
            Optional<OutgoingCopy> source = snapshots.read(subject.rank(), subject.stage(), subject.stepsDone());
            if (source.isPresent()) {
                sending = new Sending(subject, source.get(), ownDoor, sharesMemory);
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
        stream.close();
    }
}
