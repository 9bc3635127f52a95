package dev.troupe.machine;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What a node copies to others, one stage at a time: a copy that is under way is broken at the other end until it is whole, and
 * one that is written over on the way goes nowhere.
 */
final class SimulatedCopies {
    private record Copy(SimulatedNode to, int stage, long stepsDone) {
    }

    private final Simulation run;
    private final SimulatedNode from;
    // By stage, the newest two versions that are to go.
    private final TreeMap<Integer, TreeSet<Long>> waiting = new TreeMap<>();
    private final Deque<Runnable> toCoordinator = new ArrayDeque<>();
    private final Move begins;
    private final Move ends;
    private final Move tells;
    private List<String> keepers = List.of();
    private Copy underWay;

    SimulatedCopies(Simulation run, SimulatedNode from) {
        this.run = run;
        this.from = from;
        this.begins = new Move(from.name() + " begins a copy", this::begin);
        this.ends = new Move(from.name() + " ends a copy", this::end);
        this.tells = new Move("the coordinator hears of copies on " + from.name(),
                () -> toCoordinator.remove().run());
    }

    void addMoves(List<Move> all) {
        if (underWay != null) {
            all.add(ends);
        } else if (!waiting.isEmpty()) {
            all.add(begins);
        }
        if (!toCoordinator.isEmpty()) {
            all.add(tells);
        }
    }

    /** Who keeps copies from now on, and of what at once. */
    void route(CoordinatorCommand.KeepCopies keep, Collection<Integer> ranks) {
        keepers = keep.keepers();
        for (long stepsDone = keep.stepsDone(); stepsDone <= keep.stepsDone() + 1; stepsDone++) {
            long steps = stepsDone; // what it has kept before it heard of this may have gone elsewhere
            ranks.stream().flatMapToInt(run::stagesOf).filter(stage -> from.snapshots().find(stage, steps).isPresent())
                    .forEach(stage -> kept(stage, steps));
        }
    }

    /** A rank of this node has kept a stage after so many steps. */
    void kept(int stage, long stepsDone) {
        if (!from.isDead() && keeperOf(stage) != null) {
            TreeSet<Long> versions = waiting.computeIfAbsent(stage, _ -> new TreeSet<>());
            versions.add(stepsDone);
            if (versions.size() > 2) {
                versions.removeFirst();
            }
        }
    }

    private SimulatedNode keeperOf(int stage) {
        int rank = run.rankOf(stage);
        return rank < keepers.size() ? run.node(keepers.get(rank)) : null;
    }

    private void begin() {
        int stage = waiting.firstKey();
        long stepsDone = waiting.get(stage).removeFirst();
        if (waiting.get(stage).isEmpty()) {
            waiting.remove(stage);
        }
        SimulatedNode to = keeperOf(stage);
        if (to == null || to.isDead() || from.snapshots().find(stage, stepsDone).isEmpty()) {
            return;
        }
        if (to.snapshots().find(stage, stepsDone).isPresent()) { // it is not broken for the same again
            to.copies().arrived(run.rankOf(stage), stepsDone);
        } else {
            to.snapshots().begin(stage, stepsDone);
            underWay = new Copy(to, stage, stepsDone);
        }
    }

    private void end() {
        Copy copy = underWay;
        underWay = null;
        OptionalLong weights = from.snapshots().find(copy.stage(), copy.stepsDone());
        if (weights.isPresent() && !copy.to().isDead()) {
            copy.to().snapshots().end(copy.stage(), copy.stepsDone(), weights.getAsLong());
            copy.to().copies().arrived(run.rankOf(copy.stage()), copy.stepsDone());
        }
    }

    private void arrived(int rank, long stepsDone) {
        if (from.hasAll(run.stagesOf(rank), stepsDone)) {
            toCoordinator.add(() -> run.ask(new CoordinatorEvent.Copied(rank, from.name(), stepsDone)));
        }
    }

    /** Nothing goes and nothing comes any more; what was said is still on its way. */
    void stop() {
        waiting.clear();
        underWay = null;
    }

    @Override
    public String toString() {
        return "copies to " + keepers + ", waiting " + waiting + ", under way " + underWay;
    }
}
