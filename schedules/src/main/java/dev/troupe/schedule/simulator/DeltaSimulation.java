package dev.troupe.schedule.simulator;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.StageGraph.Flow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The simulation of a plan that changes a little at a time: after a change of costs, hops or one row, only times that differ
 * are computed again. Equal to {@link Simulator#run(dev.troupe.schedule.PlanRows, Costs)} of the changed plan, to the
 * nanosecond.
 *
 * <p>The actions are kept in an order in which each comes after those that it waits for. A change marks actions, and one
 * walk through the order computes the marked ones and marks their successors if a time differs. A change of a row sorts the
 * part of the order between the first and the last moved action again; if that is not possible the plan would deadlock, and
 * the change is refused.
 *
 * <p>Source: Jia et al., Beyond Data and Model Parallelism for Deep Neural Networks, 2019, section 5.3 (delta simulation);
 * Pearce and Kelly, A dynamic topological sort algorithm for directed acyclic graphs, 2006 (the order).
 *
 * <p>Thread rule: one thread.
 */
public final class DeltaSimulation {
    private static final int NONE = ActionLinks.NONE;

    private final Plan plan;
    private Costs costs;
    private final ActionLinks links;
    /** By action, the one with the message before its own on the edge, and the one after. */
    private final int[] messageBefore;
    private final int[] messageAfter;
    private final Price[] prices;
    private final long[] nanos;
    private final long[] occupancy;
    private final long[] latency;
    private final long[] starts;
    private final long[] departures;
    private final MarkedOrder order;
    private long computed;

    /**
     * Simulates a plan, with unlimited credits.
     *
     * @param plan a plan of one step that only computes
     * @param costs its costs, with equal microbatches
     * @throws PlanException if the plan has messages or several steps, or comes to no end
     */
    public DeltaSimulation(Plan plan, Costs costs) {
        if (!plan.onlyComputes() || plan.overlapsSteps() || plan.stepCount() > 1) {
            throw new PlanException("Plan \"" + plan.name()
                    + "\" has messages or several steps: a delta simulation takes a plan of one step that only computes.");
        }
        this.plan = plan;
        this.links = new ActionLinks(plan);
        int count = links.count();
        this.messageBefore = new int[count];
        this.messageAfter = new int[count];
        Arrays.fill(messageBefore, NONE);
        Arrays.fill(messageAfter, NONE);
        this.prices = new Price[plan.stageCount()];
        this.nanos = new long[count];
        this.occupancy = new long[count];
        this.latency = new long[count];
        this.starts = new long[count];
        this.departures = new long[count];
        this.order = new MarkedOrder(count, links::successors);
        order.sort(startsOf(Simulator.run(plan, costs)));
        for (int row = 0; row < plan.rankCount(); row++) {
            chain(row);
        }
        for (int action = 0; action < count; action++) {
            order.mark(action);
        }
        costs(costs);
        computed = 0;
    }

    /** Puts the messages of a row into the order of their edges, and marks what differs. */
    private void chain(int row) {
        Map<Integer, Integer> last = new HashMap<>();
        for (int number : Arrays.stream(links.row(row)).filter(each -> links.user(each) != NONE).toArray()) {
            Integer before = last.put(edge(number), number);
            messageAfter[number] = NONE;
            if (before != null) {
                messageAfter[before] = number;
            }
            if (messageBefore[number] != (before == null ? NONE : before)) {
                messageBefore[number] = before == null ? NONE : before;
                order.mark(publisher(number));
            }
        }
    }

    private int edge(int number) {
        return 2 * links.action(number).stage() + (links.isForward(number) ? 0 : 1);
    }

    /** The costs that decide the times of a stage's actions and of the messages that it sends. */
    private record Price(StageCost stage, Hop there, long bytesThere, Hop back, long bytesBack) {
    }

    private Price priceOf(int stage) {
        int target = plan.graph().target(Flow.ACTIVATIONS, stage);
        int source = plan.graph().source(Flow.ACTIVATIONS, stage);
        // A gradient has the size of the activation.
        return new Price(costs.stages().get(stage), hop(stage, target), costs.stages().get(stage).outputBytes(),
                hop(stage, source), source == NONE ? 0 : costs.stages().get(source).outputBytes());
    }

    private Hop hop(int from, int to) {
        return to == NONE || plan.rankOf(from, 0) == plan.rankOf(to, 0)
                ? Hop.FREE
                : costs.hops().between(plan.rankOf(from, 0), plan.rankOf(to, 0));
    }

    /** Sets the costs of all actions of a stage and of their messages, and marks what differs. */
    private void price(int stage) {
        Price price = priceOf(stage);
        if (price.equals(prices[stage])) {
            return;
        }
        prices[stage] = price;
        for (int number : links.ofStage(stage)) {
            long time = price.stage().nanos(links.action(number).kind());
            if (nanos[number] != time) {
                nanos[number] = time;
                order.mark(number);
            }
            if (links.user(number) != NONE) {
                Hop hop = links.isForward(number) ? price.there() : price.back();
                long busy = hop.occupancyNanos(links.isForward(number) ? price.bytesThere() : price.bytesBack());
                if (occupancy[number] != busy || latency[number] != hop.latencyNanos()) {
                    occupancy[number] = busy;
                    latency[number] = hop.latencyNanos();
                    order.mark(publisher(number));
                    markUser(links.user(number));
                }
            }
        }
    }

    private int publisher(int number) {
        return links.second(number) == NONE ? number : links.second(number);
    }

    private long[] startsOf(Simulation simulation) {
        long[] nanosOfStart = new long[links.count()];
        for (int number = 0; number < links.count(); number++) {
            nanosOfStart[number] = simulation.startNanos(links.rank(number), links.position(number));
        }
        return nanosOfStart;
    }

    /** Marks an action, and if it is the second of a pair, the pair, which begins with both inputs present. */
    private void markUser(int number) {
        order.mark(number);
        if (links.first(number) != NONE) {
            order.mark(links.first(number));
        }
    }

    /** Computes the marked actions in order, and those that wait for one with another time. */
    private void walk() {
        for (int number = order.nextMarked(); number != NONE; number = order.nextMarked()) {
            compute(number);
        }
    }

    private void compute(int number) {
        computed++;
        int[] row = links.row(links.rank(number));
        int at = links.position(number);
        long start = Math.max(at == 0 ? 0 : end(row[at - 1]), arrival(number));
        if (links.second(number) != NONE) {
            start = Math.max(start, arrival(links.second(number)));
        }
        starts[number] = start;
        // The next one is marked even if the start is the same: the time of the action may differ.
        if (at + 1 < row.length && Math.max(start + nanos[number], arrival(row[at + 1])) != starts[row[at + 1]]) {
            order.mark(row[at + 1]);
        }
        // A pair publishes both outputs at its end.
        for (int each = number; links.second(number) == NONE && each != NONE; each = links.first(each)) {
            publish(each, number);
        }
    }

    private long end(int number) {
        return starts[number] + nanos[number];
    }

    private long arrival(int number) {
        return links.maker(number) == NONE ? 0 : departures[links.maker(number)] + latency[links.maker(number)];
    }

    private void publish(int number, int publisher) {
        int needs = links.user(number);
        if (needs == NONE) {
            return;
        }
        int before = messageBefore[number];
        long departure = Math.max(before == NONE ? 0 : departures[before], end(publisher)) + occupancy[number];
        if (departure != departures[number]) {
            departures[number] = departure;
            markUser(needs);
            if (messageAfter[number] != NONE) {
                order.mark(publisher(messageAfter[number]));
            }
        }
    }

    /** Takes other costs or hops, and computes what differs. */
    public void costs(Costs others) {
        costs = others;
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            price(stage);
        }
        walk();
    }

    /**
     * Moves an action within its row, and computes what differs.
     *
     * @param to its position after the move
     * @return whether the plan still comes to its end; if not, or if a pair would be parted, nothing has changed
     */
    public boolean move(int row, int from, int to) {
        int low = Math.min(from, to);
        int high = Math.max(from, to);
        for (int at = low; at <= high; at++) {
            if (links.first(links.row(row)[at]) != NONE || links.second(links.row(row)[at]) != NONE) {
                return false;
            }
        }
        links.rotate(row, from, to);
        if (!order.repair(Arrays.copyOfRange(links.row(row), low, high + 1), starts)) {
            links.rotate(row, to, from);
            return false;
        }
        chain(row);
        for (int at = low; at <= Math.min(high + 1, links.row(row).length - 1); at++) {
            order.mark(links.row(row)[at]);
        }
        walk();
        return true;
    }

    public long startNanos(int row, int at) {
        return starts[links.row(row)[at]];
    }

    /** Returns the end of the last action of a row; 0 if it has none. */
    public long endNanos(int row) {
        return links.row(row).length == 0 ? 0 : end(links.row(row)[links.row(row).length - 1]);
    }

    /** Returns the time from the start of the step to the end of the last action. */
    public long makespanNanos() {
        return IntStream.range(0, plan.rankCount()).mapToLong(this::endNanos).max().orElse(0);
    }

    /** Returns the number of actions that were computed since the beginning. */
    public long computedActions() {
        return computed;
    }

    /** Returns the actions of a row as they are after all changes. */
    public List<Action> row(int rank) {
        return Arrays.stream(links.row(rank)).mapToObj(links::action).toList();
    }

    /** Returns the plan as it is after all changes. */
    public Plan plan() {
        List<List<Action>> changed = new ArrayList<>();
        Set<Place> pairs = new HashSet<>();
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            changed.add(row(rank));
            Arrays.stream(links.row(rank)).filter(number -> links.second(number) != NONE)
                    .forEach(number -> pairs.add(new Place(links.rank(number), links.position(number))));
        }
        return plan.withRows(changed, pairs);
    }
}
