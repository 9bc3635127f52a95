package dev.troupe.protocol.run;

import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.checkpoint.CheckpointPart;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** The parts of checkpoints that a node writes from snapshots, one rank after the other, as {@code PartWriter} does. */
final class SimulatedParts {
    /** The pinned snapshots of a rank. */
    private record Pinned(CheckpointAttempt attempt, int rank, List<SimulatedSnapshots.Pinned> stages) {
    }

    private final Simulation run;
    private final SimulatedNode node;
    private final Deque<Pinned> pinned = new ArrayDeque<>();
    private final Deque<CheckpointEvent> toCoordinator = new ArrayDeque<>();
    private final Move writes;
    private final Move tells;

    SimulatedParts(Simulation run, SimulatedNode node) {
        this.run = run;
        this.node = node;
        this.writes = new Move(node.name() + " writes a part", this::write);
        this.tells = new Move("the coordinator hears of parts on " + node.name(),
                () -> run.cluster().coordinatorOf(node).take(toCoordinator.remove()));
    }

    void addMoves(List<Move> all) {
        if (!pinned.isEmpty()) {
            all.add(writes);
        }
        if (!toCoordinator.isEmpty()) {
            all.add(tells);
        }
    }

    /** Pins the snapshots of these ranks; later ones take other memory. */
    void pin(CheckpointAttempt attempt, List<Integer> ranks) {
        List<Integer> held = new ArrayList<>();
        for (int rank : ranks) {
            List<SimulatedSnapshots.Pinned> states = run.stagesOf(rank)
                    .mapToObj(stage -> node.snapshots().pin(rank, stage, attempt.stepsDone()))
                    .flatMap(Optional::stream).toList();
            if (states.size() == run.stagesOf(rank).count()) {
                pinned.add(new Pinned(attempt, rank, states));
                held.add(rank);
            } else {
                states.forEach(SimulatedSnapshots.Pinned::release);
                toCoordinator.add(new CheckpointEvent.PartFailed(attempt, rank, "it is not there"));
            }
        }
        toCoordinator.add(new CheckpointEvent.Pinned(attempt, held));
    }

    private void write() {
        Pinned next = pinned.remove();
        List<OptionalLong> weights = next.stages().stream().map(SimulatedSnapshots.Pinned::release).toList();
        if (run.takeFullDisk()) {
            toCoordinator.add(new CheckpointEvent.PartFailed(next.attempt(), next.rank(), "the disk is full"));
        } else if (!weights.stream().allMatch(OptionalLong::isPresent)) {
            toCoordinator.add(new CheckpointEvent.PartFailed(next.attempt(), next.rank(), "it is forgotten"));
        } else {
            toCoordinator.add(new CheckpointEvent.PartWritten(next.attempt(), next.rank(),
                    new CheckpointPart("rank-" + next.rank(), next.attempt().stepsDone(),
                            weights.stream().map(OptionalLong::getAsLong).toList().toString())));
        }
    }

    /** Stops writing; sent messages are still in flight. */
    void stop() {
        pinned.clear();
    }

    /** Drops the messages that have not arrived. */
    void silence() {
        toCoordinator.clear();
    }

    @Override
    public String toString() {
        return "parts to write " + pinned + ", to tell " + toCoordinator;
    }
}
