package dev.troupe.protocol.run;

import dev.troupe.protocol.node.NodeCommand;
import dev.troupe.protocol.replica.CopyQueue;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The copies from a node to others, to each one stage at a time, in the order of a real {@link CopyQueue}: a copy in
 * progress is broken at the other end until it is whole, and one with an overwritten snapshot is dropped. With shared memory
 * nothing is in progress: the other end reads this one's.
 */
final class SimulatedCopies {
    /** The copies in flight to one node. */
    private final class Stream {
        private final CopyQueue waiting = new CopyQueue();
        private final Move begins;
        private final Move ends;
        private Optional<Copy> inProgress = Optional.empty();

        Stream(SimulatedNode to) {
            this.begins = new Move(from.name() + " begins a copy to " + to.name(), () -> begin(this, to));
            this.ends = new Move(from.name() + " ends a copy to " + to.name(), () -> end(this));
        }

        @Override
        public String toString() {
            return "waiting " + waiting + ", in progress " + inProgress;
        }
    }

    /** A copy that is read from one snapshot, of one writing, and written into another. */
    private record Copy(SimulatedNode to, SimulatedSnapshot source, long writing, SimulatedSnapshots.Write write) {
    }

    private final Simulation run;
    private final SimulatedNode from;
    private final Map<SimulatedNode, Stream> streams = new LinkedHashMap<>();
    private final Deque<Runnable> toCoordinator = new ArrayDeque<>();
    private final Move tells;
    // By rank.
    private final Map<Integer, SimulatedNode> routes = new HashMap<>();

    SimulatedCopies(Simulation run, SimulatedNode from) {
        this.run = run;
        this.from = from;
        this.tells = new Move("the coordinator hears of copies on " + from.name(),
                () -> toCoordinator.remove().run());
    }

    void addMoves(List<Move> all) {
        for (Map.Entry<SimulatedNode, Stream> to : streams.entrySet()) {
            Stream stream = to.getValue();
            if (!run.cluster().reaches(from, to.getKey())) {
                continue;
            }
            if (stream.inProgress.isPresent()) {
                all.add(stream.ends);
            } else if (!stream.waiting.isEmpty()) {
                all.add(stream.begins);
            }
        }
        if (!toCoordinator.isEmpty() && run.cluster().reachesCoordinator(from)) {
            all.add(tells);
        }
    }

    /** Sends copies of each of these ranks' snapshots to its buddy from now on, and of no other rank. */
    void route(Map<Integer, NodeCommand.Route.Buddy> buddies) {
        routes.clear();
        buddies.forEach((rank, buddy) -> routes.put(rank, run.node(buddy.node())));
    }

    /** Sends the snapshots that these ranks have of a step: before the route they may have gone elsewhere. */
    void send(List<Integer> ranks, long stepsDone) {
        ranks.forEach(rank -> run.stagesOf(rank)
                .filter(stage -> from.snapshots().find(rank, stage, stepsDone).isPresent())
                .forEach(stage -> kept(rank, stage, stepsDone)));
    }

    /** Takes note of a new snapshot of a stage on this node. */
    void kept(int rank, int stage, long stepsDone) {
        SimulatedNode buddy = routes.get(rank);
        if (!from.isDead() && buddy != null) {
            streams.computeIfAbsent(buddy, Stream::new).waiting.offer(rank, stage, stepsDone);
        }
    }

    /** Sends nothing to a lost node any more. */
    void forget(String node) {
        streams.keySet().removeIf(to -> to.name().equals(node));
    }

    private void begin(Stream stream, SimulatedNode to) {
        CopyQueue.Version next = stream.waiting.next().orElseThrow();
        Optional<SimulatedSnapshot> source = from.snapshots().read(next.rank(), next.stage(), next.stepsDone());
        if (to.isDead() || source.isEmpty()) {
            return;
        }
        if (run.sharesMemory() && source.get().isOwn()) {
            to.snapshots().map(next.rank(), next.stage(), next.stepsDone(), source.get());
        }
        stream.inProgress = to.snapshots().accept(next.rank(), next.stage(), next.stepsDone())
                .map(write -> new Copy(to, source.get(), source.get().writingOf(next.stepsDone()), write));
        if (stream.inProgress.isEmpty()) { // it is there already, and is not broken for the same again
            to.copies().arrived(next.rank(), next.stepsDone());
        }
    }

    private void end(Stream stream) {
        Copy copy = stream.inProgress.orElseThrow();
        stream.inProgress = Optional.empty();
        SimulatedSnapshots.Write write = copy.write();
        if (copy.source().isWhole(copy.writing()) && !copy.to().isDead() && write.end(copy.source().weights())) {
            copy.to().copies().arrived(write.rank(), write.stepsDone());
        }
    }

    private void arrived(int rank, long stepsDone) {
        if (!from.isDead()) {
            from.copyArrived(rank, stepsDone);
        }
    }

    /** Reports a copy to the coordinator. */
    void report(RunEvent event) {
        toCoordinator.add(() -> run.cluster().coordinatorOf(from).ask(event));
    }

    /** Stops copies of the node; messages that it sent before still arrive. */
    void stop() {
        streams.clear();
    }

    /** Drops the messages of the node that have not arrived. */
    void silence() {
        toCoordinator.clear();
    }

    @Override
    public String toString() {
        return "copies of ranks " + routes.keySet() + ", " + streams.values();
    }
}
