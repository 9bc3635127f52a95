package dev.troupe.snapshot.aeron;

import dev.troupe.snapshot.OutgoingCopy;
import dev.troupe.snapshot.Snapshots;
import dev.troupe.snapshot.aeron.CopyFrame.Subject;
import io.aeron.ExclusivePublication;
import io.aeron.logbuffer.BufferClaim;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** The stream to another node, and what waits for it: one copy after the other. Belongs to the copying thread. */
final class Outlet implements AutoCloseable {
    /** A mebibyte over IPC, some 0.3 ms, before others have their turn. */
    private static final int FRAMES_PER_TURN = 16;

    private record Place(int rank, int stage) {
    }

    private final int self;
    private final int door;
    private final ExclusivePublication stream;
    private final Snapshots snapshots;
    private final CopyTally tally;
    private final BufferClaim claim = new BufferClaim();
    private static final int MOST_VERSIONS = 2;

    /** The versions of each stage that are to go, those stages first that have waited longest. */
    private final Map<Place, TreeSet<Long>> waiting = new LinkedHashMap<>();
    /** Null while none is under way. */
    private Sending sending;
    private boolean isClosed;

    Outlet(int self, int door, ExclusivePublication stream, Snapshots snapshots, CopyTally tally) {
        this.self = self;
        this.door = door;
        this.stream = stream;
        this.snapshots = snapshots;
        this.tally = tally;
    }

    void offer(int rank, int stage, long stepsDone) {
        TreeSet<Long> versions = waiting.computeIfAbsent(new Place(rank, stage), _ -> new TreeSet<>());
        versions.add(stepsDone);
        if (versions.size() > MOST_VERSIONS) {
            versions.removeFirst();
        }
    }

    /** Whether it leads there. */
    boolean leadsTo(int itsDoor) {
        return door == itsDoor;
    }

    /** Whether a copy is under way. */
    boolean isBusy() {
        return sending != null;
    }

    /** Whether the stream has come to its end, and another is to be opened. */
    boolean isClosed() {
        return isClosed;
    }

    /** Sends a few frames; returns how many. */
    int send() {
        int frames = 0;
        while (frames < FRAMES_PER_TURN && (sending != null || begin())) {
            switch (sending.sendNext(stream, claim)) {
                case SENT -> {
                    frames++;
                    tally.bytesSent.add(claim.length());
                    if (sending.isDone()) {
                        tally.sent.increment();
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
                sending = new Sending(subject, source.get());
            } else {
                tally.brokenOff.increment();
            }
        }
        return sending != null;
    }

    private void breakOff() {
        tally.brokenOff.increment();
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
