package dev.troupe.rank;

import dev.troupe.config.fault.FaultPoint;
import dev.troupe.plan.checkpoint.CheckpointException;
import dev.troupe.plan.error.Reason;
import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.checkpoint.CheckpointPart;
import dev.troupe.rank.snapshot.PinnedState;
import dev.troupe.weights.Progress;
import dev.troupe.weights.TensorPart;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The writer of checkpoint parts during training, from the snapshots of a node's ranks. Each checkpoint has its own thread,
 * so a disk that hangs delays neither a rank nor a later checkpoint. Thread rule: the node's actor.
 */
public final class PartWriter {
    private record Pinned(int rank, List<PinnedState> stages) implements AutoCloseable {
        @Override
        public void close() {
            stages.forEach(PinnedState::close);
        }
    }

    /** More often than the coordinator checks for progress, and too seldom to have a cost. */
    private static final Duration REPORT_EVERY = Duration.ofMillis(100);

    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

    /** Writes the parts of these ranks from their present snapshots; {@code answers} receives each result, on any thread. */
    public void start(CheckpointAttempt attempt, List<Integer> ranks, NodeContext node,
            Consumer<CheckpointEvent> answers) {
        List<Pinned> pinned = new ArrayList<>();
        for (int rank : ranks) {
            Optional<Pinned> kept = pin(node, rank, attempt.stepsDone());
            kept.ifPresent(pinned::add);
            if (kept.isEmpty()) {
                answers.accept(new CheckpointEvent.PartFailed(attempt, rank, "rank " + rank
                        + " has no snapshot after " + attempt.stepsDone() + " steps"));
            }
        }
        answers.accept(new CheckpointEvent.Pinned(attempt, pinned.stream().map(Pinned::rank).toList()));
        threads.removeIf(thread -> !thread.isAlive());
        threads.add(Thread.ofPlatform().daemon().name("troupe-checkpoint-" + attempt.stepsDone())
                .start(() -> pinned.forEach(rank -> answers.accept(
                        Progress.reportedTo(new Moving(attempt, answers), () -> write(node, attempt, rank))))));
    }

    /** Reports from time to time that bytes are written. */
    private static final class Moving implements Runnable {
        private final CheckpointAttempt attempt;
        private final Consumer<CheckpointEvent> answers;
        private long reportedNanos = System.nanoTime();

        Moving(CheckpointAttempt attempt, Consumer<CheckpointEvent> answers) {
            this.attempt = attempt;
            this.answers = answers;
        }

        @Override
        public void run() {
            long now = System.nanoTime();
            if (now - reportedNanos > REPORT_EVERY.toNanos()) {
                reportedNanos = now;
                answers.accept(new CheckpointEvent.Moving(attempt));
            }
        }
    }

    /** Pins all stages of a rank, or none. */
    private static Optional<Pinned> pin(NodeContext node, int rank, long stepsDone) {
        List<Integer> stages = node.plan().stagesOf(rank);
        Pinned pinned = new Pinned(rank, stages.stream()
                .flatMap(stage -> node.recovery().snapshots().orElseThrow().pin(rank, stage, stepsDone).stream())
                .toList());
        if (pinned.stages().size() < stages.size()) {
            pinned.close();
            return Optional.empty();
        }
        return Optional.of(pinned);
    }

    private static CheckpointEvent write(NodeContext node, CheckpointAttempt attempt, Pinned pinned) {
        try (pinned) {
            return new CheckpointEvent.PartWritten(attempt, pinned.rank(), write(node, attempt.stepsDone(),
                    pinned.rank(), pinned.stages().stream().flatMap(stage -> stage.parts().stream()).toList()));
        } catch (CheckpointException unwritten) {
            return new CheckpointEvent.PartFailed(attempt, pinned.rank(), unwritten.getMessage());
        } catch (Throwable failure) { // an error too: whoever waits must be notified
            return new CheckpointEvent.PartFailed(attempt, pinned.rank(),
                    "rank " + pinned.rank() + ": " + Reason.of(failure));
        }
    }

    /**
     * Writes a rank's part, with the injected faults of its stages.
     *
     * @throws CheckpointException if it cannot be written
     */
    static CheckpointPart write(NodeContext node, long stepsDone, int rank, Collection<TensorPart> tensors) {
        List<Integer> stages = node.plan().stagesOf(rank);
        stages.forEach(stage -> node.faults().at(FaultPoint.CHECKPOINT, rank, stage, stepsDone - 1));
        CheckpointPart part = node.checkpoints().writePart(stepsDone, rank, tensors);
        if (stages.stream().anyMatch(stage -> node.faults().corruptsCheckpoint(rank, stage, stepsDone - 1))) {
            node.checkpoints().damage(stepsDone, part);
        }
        return part;
    }

    /** Waits until everything is written, at most until the deadline. */
    public void awaitEnd(long deadlineNanos) {
        try {
            for (Thread thread : threads) {
                TimeUnit.NANOSECONDS.timedJoin(thread, Math.max(1, deadlineNanos - System.nanoTime()));
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
