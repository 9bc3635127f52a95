package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.replica.SnapshotSlots;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** The snapshots of a node in the real {@link SnapshotSlots}, as in {@code Snapshots}: their contents are hashes. */
final class SimulatedSnapshots {
    /** A state that is being written. */
    record Write(int rank, int stage, long stepsDone, SimulatedSnapshot snapshot, long number) {
        boolean end(long weights) {
            return snapshot.end(number, weights);
        }
    }

    /** A state that is not overwritten. */
    record Pinned(SnapshotSlots<SimulatedSnapshot> slots, SimulatedSnapshot snapshot, long number) {
        /** Returns the weights; empty if the rank was forgotten meanwhile. */
        OptionalLong release() {
            boolean stands = snapshot.isWhole(number);
            slots.unpin(snapshot);
            return stands ? OptionalLong.of(snapshot.weights()) : OptionalLong.empty();
        }
    }

    // By rank and stage.
    private final Map<Integer, Map<Integer, SnapshotSlots<SimulatedSnapshot>>> slots = new TreeMap<>();

    private SnapshotSlots<SimulatedSnapshot> slots(int rank, int stage) {
        return slots.computeIfAbsent(rank, _ -> new TreeMap<>()).computeIfAbsent(stage, _ -> new SnapshotSlots<>());
    }

    /** Begins to write the state of a rank's stage; empty if a later one is kept. */
    Optional<Write> keep(int rank, int stage, long stepsDone) {
        return slots(rank, stage).mayKeep(stepsDone) ? Optional.of(begin(rank, stage, stepsDone)) : Optional.empty();
    }

    /** Begins to write a copy; empty if it is of no use here. */
    Optional<Write> accept(int rank, int stage, long stepsDone) {
        return slots(rank, stage).mayCopy(stepsDone) ? Optional.of(begin(rank, stage, stepsDone)) : Optional.empty();
    }

    private Write begin(int rank, int stage, long stepsDone) {
        SimulatedSnapshot target = slots(rank, stage).target(stepsDone, _ -> true, SimulatedSnapshot::own);
        assertTrue(target.isOwn(), "a state is written into memory of another node");
        return new Write(rank, stage, stepsDone, target, target.begin(stepsDone));
    }

    /** Maps the snapshot of another node here. */
    void map(int rank, int stage, long stepsDone, SimulatedSnapshot shared) {
        SnapshotSlots<SimulatedSnapshot> here = slots(rank, stage);
        if (here.mayCopy(stepsDone) && here.all().noneMatch(snapshot -> snapshot.isBy(shared))) {
            here.map(stepsDone, shared.mapped());
        }
    }

    private Stream<SimulatedSnapshot> whole(int rank, int stage) {
        Map<Integer, SnapshotSlots<SimulatedSnapshot>> stages = slots.getOrDefault(rank, Map.of());
        return stages.containsKey(stage) ? stages.get(stage).whole() : Stream.of();
    }

    /** Returns the snapshot that has the state of a step. */
    Optional<SimulatedSnapshot> read(int rank, int stage, long stepsDone) {
        return whole(rank, stage).filter(snapshot -> snapshot.writingOf(stepsDone) >= 0).findFirst();
    }

    OptionalLong find(int rank, int stage, long stepsDone) {
        return read(rank, stage, stepsDone).stream().mapToLong(SimulatedSnapshot::weights).findFirst();
    }

    /** Pins a state here; empty if it is absent. */
    Optional<Pinned> pin(int rank, int stage, long stepsDone) {
        return read(rank, stage, stepsDone).filter(SimulatedSnapshot::isOwn).map(snapshot -> {
            slots(rank, stage).pin(snapshot);
            return new Pinned(slots(rank, stage), snapshot, snapshot.writingOf(stepsDone));
        });
    }

    /** Returns the steps after which a stage is whole here. */
    LongStream versions(int rank, int stage) {
        return whole(rank, stage).mapToLong(SimulatedSnapshot::stepsDone);
    }

    /** Forgets the stages of a rank that all, including those in flight, are of fewer steps. */
    void forget(int rank, long before) {
        Optional.ofNullable(slots.get(rank)).ifPresent(stages -> stages.values().removeIf(one -> one.forget(before)));
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        slots.forEach((rank, stages) -> stages.forEach((stage, one) -> text.append(stage).append(" of rank ")
                .append(rank).append(" after ").append(one.all().map(SimulatedSnapshot::stepsDone).toList())
                .append(", ")));
        return text.toString();
    }
}
