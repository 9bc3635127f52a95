package dev.troupe.schedule.certificate;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Mark;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.Resource;
import dev.troupe.schedule.StageGraph;
import dev.troupe.schedule.StageGraph.Flow;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * A walk over all rows of a plan without computing, until every row is at its end or no rank can continue. One walk is
 * enough: rows and the order on an edge are fixed, so that a deadlock does not depend on the speed of ranks.
 */
final class DryRun {
    /** The most ranks of a deadlock that a refusal shows; the grid marks as many. */
    private static final int MOST_WAITS = 16;

    private final PlanIndex index;
    private final Plan plan;
    private final boolean withMessages;
    private final int creditsPerEdge;
    private final int[] positions;
    /** By step, the actions on which its decision depends: its norms, and the gradients of the weights themselves. */
    private final List<List<Work>> measured;
    private final int[] measuredUntil;
    /** The kind of action in which the replicas of a stage add up their gradients. */
    private final Kind meeting;
    private final Set<Work> done = new HashSet<>();
    private final Set<Work> arrived = new HashSet<>();
    private final Map<StageEdge, Channel> channels = new HashMap<>();

    /** An action of a rank; each replica of a stage does the actions of a whole step. */
    private record Work(int rank, Action action) {
        static Work of(int rank, Action action) {
            return new Work(rank, action.work());
        }
    }

    private DryRun(PlanIndex index, boolean withMessages, int creditsPerEdge) {
        this.index = index;
        this.plan = index.plan();
        this.withMessages = withMessages;
        this.creditsPerEdge = creditsPerEdge;
        this.positions = new int[plan.rankCount()];
        this.measured = measured(plan);
        this.measuredUntil = new int[plan.stepCount()];
        this.meeting = plan.rows().stream().flatMap(List::stream).anyMatch(each -> each.kind() == Kind.REDUCE_GRAD)
                ? Kind.REDUCE_GRAD
                : Kind.UPDATE;
    }

    private static List<List<Work>> measured(Plan plan) {
        List<List<Work>> measured = new ArrayList<>();
        for (int step = 0; step < plan.stepCount(); step++) {
            measured.add(new ArrayList<>());
        }
        for (Predicate<Kind> measures : List.<Predicate<Kind>>of(kind -> kind == Kind.NORM, Kind::freesActivation)) {
            for (int row = 0; row < plan.rankCount(); row++) {
                int rank = row;
                plan.rows().get(rank).stream().filter(action -> measures.test(action.kind()))
                        .forEach(action -> measured.get(plan.stepOf(action)).add(Work.of(rank, action)));
            }
        }
        return measured;
    }

    /** Returns a run without messages, in which tensors reach the other rank as soon as they are made. */
    static DryRun ofComputing(PlanIndex index) {
        return new DryRun(index, false, Integer.MAX_VALUE);
    }

    /** Returns a run in which tensors travel by the plan's messages, within the credits. */
    static DryRun withCredits(PlanIndex index, int creditsPerEdge) {
        return new DryRun(index, true, creditsPerEdge);
    }

    void run() {
        if (walkTo(plan.rows().stream().mapToInt(List::size).toArray())) {
            return;
        }
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            if (positions[rank] < plan.rows().get(rank).size()) {
                throw stuck(rank);
            }
        }
    }

    /** Walks each row up to this position; returns whether every rank could reach it. */
    boolean walkTo(int[] ends) {
        boolean moved = true;
        while (moved) {
            moved = false;
            for (int rank = 0; rank < plan.rankCount(); rank++) {
                moved |= advance(rank, ends[rank]);
            }
        }
        return Arrays.equals(positions, ends);
    }

    /** Returns for each edge the microbatches that are sent and not yet received, in the order of sending. */
    Map<StageEdge, List<Integer>> inFlight() {
        Map<StageEdge, List<Integer>> inFlight = new HashMap<>();
        channels.forEach((edge, channel) -> {
            if (!channel.unconsumed().isEmpty()) {
                inFlight.put(edge, channel.unconsumed());
            }
        });
        return inFlight;
    }

    private boolean advance(int rank, int end) {
        int before = positions[rank];
        boolean met = positions[rank] < end && arrive(rank);
        while (positions[rank] < end && obstacle(rank) == null) {
            perform(rank, current(rank));
            positions[rank]++;
            met |= positions[rank] < end && arrive(rank);
        }
        return met || positions[rank] > before;
    }

    /** Records that a rank has reached its next action; returns whether this releases others that wait for it there. */
    private boolean arrive(int rank) {
        return meets(current(rank)) && arrived.add(Work.of(rank, current(rank)));
    }

    private boolean meets(Action action) {
        return action.kind() == meeting && plan.replicas(action.stage()) > 1;
    }

    private Action current(int rank) {
        return plan.rows().get(rank).get(positions[rank]);
    }

    /** Returns the action for which the walk of a rank waits; null if the rank can continue. */
    private Work obstacle(int rank) {
        Work own = obstacle(current(rank));
        boolean pair = own == null && plan.overlaps().contains(new Place(rank, positions[rank]));
        // A pair begins only if its backward can begin, too.
        return pair ? obstacle(plan.rows().get(rank).get(positions[rank] + 1)) : own;
    }

    private Work obstacle(Action action) {
        Kind kind = action.kind();
        if (kind == Kind.FORWARD) {
            int source = plan.graph().source(Flow.ACTIVATIONS, action.stage());
            return source == StageGraph.NONE ? null : notDone(new Action(source, kind, action.microbatch()));
        }
        if (kind.makesInputGradient()) {
            int target = plan.graph().target(Flow.ACTIVATIONS, action.stage());
            return target == StageGraph.NONE ? null : notDone(inputGradient(target, action.microbatch()));
        }
        if (kind == Kind.RECV_SHARED) {
            return plan.peerStage(action) == action.stage() ? null : notDone(plan.peer(action));
        }
        if (kind.isReceive()) {
            boolean isThere = !withMessages || channel(action).landed.contains(action.microbatch());
            return isThere ? null : new Work(plan.rankOf(plan.peer(action)), plan.peer(action));
        }
        if (meets(action)) {
            for (int replica : plan.ranksOf(action.stage())) {
                if (!arrived.contains(Work.of(replica, action))) {
                    return new Work(replica, action);
                }
            }
        }
        return kind.resource() == Resource.DECISION && plan.updateAwaitsAll(plan.stepOf(action))
                ? firstUnmeasured(plan.stepOf(action))
                : null;
    }

    /** Returns the first action of a step that is not done and on which its decision depends; null if all are done. */
    private Work firstUnmeasured(int step) {
        List<Work> all = measured.get(step);
        while (measuredUntil[step] < all.size() && done.contains(all.get(measuredUntil[step]))) {
            measuredUntil[step]++; // what is done stays done
        }
        return measuredUntil[step] < all.size() ? all.get(measuredUntil[step]) : null;
    }

    private Work notDone(Action action) {
        Work work = new Work(plan.rankOf(action), action);
        return done.contains(Work.of(work.rank(), action)) ? null : work;
    }

    private Action inputGradient(int stage, int microbatch) {
        Action whole = new Action(stage, Kind.FULL_BACKWARD, microbatch);
        return index.has(whole) ? whole : whole.as(Kind.BACKWARD_INPUT);
    }

    private void perform(int rank, Action action) {
        done.add(Work.of(rank, action));
        if (withMessages && action.kind().isTransfer()) {
            if (action.kind().isSend()) {
                channel(action).send(action.microbatch());
            } else {
                channel(action).consume(action.microbatch());
            }
        }
    }

    private Channel channel(Action message) {
        return channels.computeIfAbsent(StageEdge.of(plan, message), edge -> new Channel(creditsPerEdge));
    }

    /** The messages of one edge, by microbatch: those with a credit, and those that wait for one. */
    private static final class Channel {
        private final int credits;
        private final Set<Integer> landed = new LinkedHashSet<>();
        private final Queue<Integer> waiting = new ArrayDeque<>();

        Channel(int credits) {
            this.credits = credits;
        }

        void send(int microbatch) {
            waiting.add(microbatch);
            land();
        }

        List<Integer> unconsumed() {
            List<Integer> all = new ArrayList<>(landed);
            all.addAll(waiting);
            return all;
        }

        void consume(int microbatch) {
            landed.remove(microbatch);
            land();
        }

        private void land() {
            while (landed.size() < credits && !waiting.isEmpty()) {
                landed.add(waiting.remove());
            }
        }
    }

    /**
     * Returns the refusal of a plan that deadlocks. A stuck rank waits for an action of a rank that is stuck too, or for a
     * credit that only the receiver can free. So the waits form a cycle, which the refusal shows.
     */
    private PlanException stuck(int first) {
        SequencedSet<Integer> path = new LinkedHashSet<>();
        int rank = first;
        while (path.add(rank)) {
            rank = rankWaitedFor(rank);
        }
        int end = rank;
        List<Integer> circle = path.stream().dropWhile(each -> each != end).toList();
        List<String> waits = new ArrayList<>();
        List<Mark> marks = new ArrayList<>();
        for (int waiting : circle.subList(0, Math.min(circle.size(), MOST_WAITS))) {
            String wait = waitOf(waiting);
            waits.add("rank " + waiting + " at " + current(waiting) + " waits for " + wait);
            marks.add(new Mark(new Place(waiting, positions[waiting]), "waits for " + wait));
        }
        int more = circle.size() - waits.size();
        return new PlanException("Plan \"" + plan.name() + "\" deadlocks: " + String.join("; ", waits)
                + (more > 0 ? "; and " + more + " more ranks wait, the last for rank " + circle.getFirst() : "") + ": "
                + remedyFor(circle) + ".", plan, marks);
    }

    private int rankWaitedFor(int rank) {
        Action action = current(rank);
        return lacksCredit(action) ? rank : obstacle(rank).rank();
    }

    private String waitOf(int rank) {
        Action action = current(rank);
        Work missing = obstacle(rank);
        if (lacksCredit(action)) {
            return missing.action() + ", which gets no credit";
        }
        return missing.action() + " of rank " + missing.rank() + ", position "
                + index.find(missing.rank(), missing.action()).position();
    }

    /** Returns the reason why a cycle of ranks is stuck, and the remedy. */
    private String remedyFor(List<Integer> circle) {
        for (int rank : circle) {
            Action action = current(rank);
            if (lacksCredit(action)) {
                String holders = channel(action).landed.stream().sorted()
                        .map(microbatch -> new Action(action.stage(), action.kind(), microbatch).toString())
                        .collect(Collectors.joining(", "));
                return "the credits of the edge from " + StageEdge.of(plan, action) + ", " + creditsPerEdge
                        + " in number, are held until " + holders
                        + "; receive in the order of sending, or give more credits";
            }
        }
        return "change the order of the rows";
    }

    /** Returns whether the message of this receive waits for a credit after its send. */
    private boolean lacksCredit(Action action) {
        return action.kind().isTransfer() && channel(action).waiting.contains(action.microbatch());
    }
}
