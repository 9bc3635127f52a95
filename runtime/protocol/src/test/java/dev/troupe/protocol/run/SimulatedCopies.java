package dev.troupe.protocol.run;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * What a node copies to others, one stage at a time: a copy that is under way is broken at the other end until it is
 * whole, and one that is written over on the way goes nowhere. Where memory is shared, nothing is under way: the other
 * end looks at this one's.
 */
final class SimulatedCopies {
    private record Copy(SimulatedNode to, KeptStates.Write write) {
    }

    private final Simulation run;
    private final SimulatedNode from;
    // By stage, the newest two versions that are to go.
    private final TreeMap<Integer, TreeSet<Long>> waiting = new TreeMap<>();
    private final Deque<Runnable> toCoordinator = new ArrayDeque<>();
    private final Move begins;
    private final Move ends;
    private final Move tells;
    private List<String> buddies = List.of();
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
    void route(RunCommand.KeepCopies keep, Collection<Integer> ranks) {
        buddies = keep.buddies();
        for (long stepsDone = keep.stepsDone(); stepsDone <= keep.stepsDone() + 1; stepsDone++) {
            long steps = stepsDone; // what it has kept before it heard of this may have gone elsewhere
            ranks.stream().flatMapToInt(run::stagesOf).filter(stage -> from.snapshots().find(stage, steps).isPresent())
                    .forEach(stage -> kept(stage, steps));
        }
    }

    /** Ranks whose snapshots are of no use here but for those of the last two commits. */
    IntStream unwanted(Collection<Integer> ranks) {
        return IntStream.range(0, buddies.size())
                .filter(rank -> !ranks.contains(rank) && !buddies.get(rank).equals(from.name()));
    }

    /** A rank of this node has kept a stage after so many steps. */
    void kept(int stage, long stepsDone) {
        if (!from.isDead() && buddyOf(stage) != null) {
            TreeSet<Long> versions = waiting.computeIfAbsent(stage, _ -> new TreeSet<>());
            versions.add(stepsDone);
            if (versions.size() > 2) {
                versions.removeFirst();
            }
        }
    }

    private SimulatedNode buddyOf(int stage) {
        int rank = run.rankOf(stage);
        return rank < buddies.size() ? run.node(buddies.get(rank)) : null;
    }

    private void begin() {
        int stage = waiting.firstKey();
        long stepsDone = waiting.get(stage).removeFirst();
        if (waiting.get(stage).isEmpty()) {
            waiting.remove(stage);
        }
        SimulatedNode to = buddyOf(stage);
        if (to == null || to.isDead() || from.snapshots().find(stage, stepsDone).isEmpty()) {
            return;
        }
        if (run.sharesMemory()) {
            to.snapshots().map(from.snapshots(), stage, stepsDone);
        }
        if (to.snapshots().find(stage, stepsDone).isPresent()) { // it is not broken for the same again
            to.copies().arrived(run.rankOf(stage), stepsDone);
        } else {
            underWay = new Copy(to, to.snapshots().begin(stage, stepsDone));
        }
    }

    private void end() {
        Copy copy = underWay;
        underWay = null;
        int stage = copy.write().stage();
        long stepsDone = copy.write().stepsDone();
        OptionalLong weights = from.snapshots().find(stage, stepsDone);
        if (weights.isPresent() && !copy.to().isDead()
                && copy.to().snapshots().end(copy.write(), weights.getAsLong())) {
            copy.to().copies().arrived(run.rankOf(stage), stepsDone);
        }
    }

    private void arrived(int rank, long stepsDone) {
        if (from.hasAll(run.stagesOf(rank), stepsDone)) {
            toCoordinator.add(() -> run.ask(new RunEvent.Copied(rank, from.name(), stepsDone)));
        }
    }

    /** Nothing goes and nothing comes any more; what was said is still on its way. */
    void stop() {
        waiting.clear();
        underWay = null;
    }

    /** What was said is not heard any more. */
    void silence() {
        toCoordinator.clear();
    }

    @Override
    public String toString() {
        return "copies to " + buddies + ", waiting " + waiting + ", under way " + underWay;
    }
}
