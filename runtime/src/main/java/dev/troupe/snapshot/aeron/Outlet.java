package dev.troupe.snapshot.aeron;

import dev.troupe.snapshot.OutgoingCopy;
import dev.troupe.snapshot.Snapshots;
import dev.troupe.snapshot.aeron.CopyFrame.Subject;
import io.aeron.ExclusivePublication;
import io.aeron.logbuffer.BufferClaim;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The stream to another node, and what waits for it: one copy after the other. Belongs to the copying thread. */
final class Outlet implements AutoCloseable {
    /** A mebibyte over IPC, some 0.3 ms, before others have their turn. */
    private static final int FRAMES_PER_TURN = 16;

    private record Place(int rank, int stage) {
    }

    private final int self;
    private final ExclusivePublication stream;
    private final Snapshots snapshots;
    private final CopyTally tally;
    private final BufferClaim claim = new BufferClaim();
    /** The version of each stage that is to go next, those first that have waited longest. */
    private final Map<Place, Long> waiting = new LinkedHashMap<>();
    /** Null while none is under way. */
    private Sending sending;
    private boolean isClosed;

    Outlet(int self, ExclusivePublication stream, Snapshots snapshots, CopyTally tally) {
        this.self = self;
        this.stream = stream;
        this.snapshots = snapshots;
        this.tally = tally;
    }

    void offer(int rank, int stage, long stepsDone) {
        waiting.merge(new Place(rank, stage), stepsDone, Math::max);
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
                    waiting.putIfAbsent(new Place(unheard.rank(), unheard.stage()), unheard.stepsDone());
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
            Map.Entry<Place, Long> first = waiting.entrySet().iterator().next();
            waiting.remove(first.getKey());
            Subject subject = new Subject(self, first.getKey().rank(), first.getKey().stage(), first.getValue());
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
