package dev.troupe.schedule.simulator;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.StageGraph;
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
    private static final int NONE = -1;

    private final Plan plan;
    private Costs costs;
    private final Action[] actions;
    /** By rank, the actions of its row by number. */
    private final int[][] rows;
    private final int[] rank;
    private final int[] position;
    private final List<List<Integer>> ofStage = new ArrayList<>();
    /** By action, the action that makes its input, and the one that needs its output. */
    private final int[] maker;
    private final int[] user;
    /** By action, the second of its pair, or the first. */
    private final int[] second;
    private final int[] first;
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
        int count = plan.rows().stream().mapToInt(List::size).sum();
        this.actions = new Action[count];
        this.rows = new int[plan.rankCount()][];
        this.rank = new int[count];
        this.position = new int[count];
        this.maker = filled(count);
        this.user = filled(count);
        this.second = filled(count);
        this.first = filled(count);
        this.messageBefore = filled(count);
        this.messageAfter = filled(count);
        this.prices = new Price[plan.stageCount()];
        this.nanos = new long[count];
        this.occupancy = new long[count];
        this.latency = new long[count];
        this.starts = new long[count];
        this.departures = new long[count];
        this.order = new MarkedOrder(count, this::successors);
        number();
        connect();
        for (int each = 0; each < plan.rankCount(); each++) {
            chain(each);
        }
        order.sort(startsOf(Simulator.run(plan, costs)));
        for (int action = 0; action < count; action++) {
            order.mark(action);
        }
        costs(costs);
        computed = 0;
    }

    private static int[] filled(int count) {
        int[] all = new int[count];
        Arrays.fill(all, NONE);
        return all;
    }

    private void number() {
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            ofStage.add(new ArrayList<>());
        }
        int number = 0;
        for (int row = 0; row < rows.length; row++) {
            rows[row] = new int[plan.length(row)];
            for (int at = 0; at < rows[row].length; at++) {
                Action action = plan.action(row, at);
                rows[row][at] = number;
                actions[number] = action;
                rank[number] = row;
                position[number] = at;
                ofStage.get(action.stage()).add(number);
                if (plan.overlaps().contains(new Place(row, at))) {
                    second[number] = number + 1;
                    first[number + 1] = number;
                }
                number++;
            }
        }
    }

    private void connect() {
        Map<Action, Integer> makers = new HashMap<>();
        for (int number = 0; number < actions.length; number++) {
            Action action = actions[number];
            if (action.kind() == Kind.FORWARD || action.kind().makesInputGradient()) {
                makers.put(action.as(kind(number)), number);
            }
        }
        for (int number : makers.values()) {
            Action action = actions[number];
            int from = isForward(number)
                    ? plan.graph().source(Flow.ACTIVATIONS, action.stage())
                    : plan.graph().target(Flow.ACTIVATIONS, action.stage());
            if (from != StageGraph.NONE) {
                maker[number] = makers.get(new Action(from, kind(number), action.microbatch()));
                user[maker[number]] = number;
            }
        }
    }

    private Kind kind(int number) {
        return isForward(number) ? Kind.FORWARD : Kind.BACKWARD_INPUT;
    }

    private boolean isForward(int number) {
        return actions[number].kind() == Kind.FORWARD;
    }

    /** Puts the messages of a row into the order of their edges, and marks what differs. */
    private void chain(int row) {
        Map<Integer, Integer> last = new HashMap<>();
        for (int number : Arrays.stream(rows[row]).filter(each -> user[each] != NONE).toArray()) {
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
        return 2 * actions[number].stage() + (isForward(number) ? 0 : 1);
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
        for (int number : ofStage.get(stage)) {
            long time = price.stage().nanos(actions[number].kind());
            if (nanos[number] != time) {
                nanos[number] = time;
                order.mark(number);
            }
            if (user[number] != NONE) {
                Hop hop = isForward(number) ? price.there() : price.back();
                long busy = hop.occupancyNanos(isForward(number) ? price.bytesThere() : price.bytesBack());
                if (occupancy[number] != busy || latency[number] != hop.latencyNanos()) {
                    occupancy[number] = busy;
                    latency[number] = hop.latencyNanos();
                    order.mark(publisher(number));
                    markUser(user[number]);
                }
            }
        }
    }

    private int publisher(int number) {
        return second[number] == NONE ? number : second[number];
    }

    private long[] startsOf(Simulation simulation) {
        long[] nanosOfStart = new long[actions.length];
        for (int number = 0; number < actions.length; number++) {
            nanosOfStart[number] = simulation.startNanos(rank[number], position[number]);
        }
        return nanosOfStart;
    }

    /** Returns the actions that wait for one: the next of its row, and those that need what it publishes. */
    private int[] successors(int number) {
        int[] found = new int[5];
        int count = 0;
        int[] row = rows[rank[number]];
        if (position[number] + 1 < row.length) {
            found[count++] = row[position[number] + 1];
        }
        for (int each = number; second[number] == NONE && each != NONE; each = first[each]) {
            count = addUser(each, found, count);
        }
        return Arrays.copyOf(found, count);
    }

    private int addUser(int number, int[] found, int count) {
        int next = count;
        for (int needs = user[number]; needs != NONE; needs = first[needs]) { // a pair begins with both inputs present
            found[next++] = needs;
        }
        return next;
    }

    /** Marks an action, and if it is the second of a pair, the pair, which begins with both inputs present. */
    private void markUser(int number) {
        order.mark(number);
        if (first[number] != NONE) {
            order.mark(first[number]);
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
        int[] row = rows[rank[number]];
        int at = position[number];
        long start = Math.max(at == 0 ? 0 : end(row[at - 1]), arrival(number));
        if (second[number] != NONE) {
            start = Math.max(start, arrival(second[number]));
        }
        starts[number] = start;
        // The next one is marked even if the start is the same: the time of the action may differ.
        if (at + 1 < row.length && Math.max(start + nanos[number], arrival(row[at + 1])) != starts[row[at + 1]]) {
            order.mark(row[at + 1]);
        }
        // A pair publishes both outputs at its end.
        for (int each = number; second[number] == NONE && each != NONE; each = first[each]) {
            publish(each, number);
        }
    }

    private long end(int number) {
        return starts[number] + nanos[number];
    }

    private long arrival(int number) {
        return maker[number] == NONE ? 0 : departures[maker[number]] + latency[maker[number]];
    }

    private void publish(int number, int publisher) {
        int needs = user[number];
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
     * @param row the rank
     * @param from the position of the action
     * @param to its position after the move
     * @return whether the plan still comes to its end; if not, or if a pair would be parted, nothing has changed
     */
    public boolean move(int row, int from, int to) {
        int low = Math.min(from, to);
        int high = Math.max(from, to);
        for (int at = low; at <= high; at++) {
            if (first[rows[row][at]] != NONE || second[rows[row][at]] != NONE) {
                return false;
            }
        }
        rotate(row, from, to);
        if (!order.repair(Arrays.copyOfRange(rows[row], low, high + 1), starts)) {
            rotate(row, to, from);
            return false;
        }
        chain(row);
        for (int at = low; at <= Math.min(high + 1, rows[row].length - 1); at++) {
            order.mark(rows[row][at]);
        }
        walk();
        return true;
    }

    private void rotate(int row, int from, int to) {
        int moved = rows[row][from];
        int step = from < to ? 1 : -1;
        for (int at = from; at != to; at += step) {
            rows[row][at] = rows[row][at + step];
            position[rows[row][at]] = at;
        }
        rows[row][to] = moved;
        position[moved] = to;
    }

    public long startNanos(int row, int at) {
        return starts[rows[row][at]];
    }

    /** Returns the end of the last action of a row; 0 if it has none. */
    public long endNanos(int row) {
        return rows[row].length == 0 ? 0 : end(rows[row][rows[row].length - 1]);
    }

    /** Returns the time from the start of the step to the end of the last action. */
    public long makespanNanos() {
        return IntStream.range(0, rows.length).mapToLong(this::endNanos).max().orElse(0);
    }

    /** Returns the number of actions that were computed since the beginning. */
    public long computedActions() {
        return computed;
    }

    /** Returns the plan as it is after all changes. */
    public Plan plan() {
        List<List<Action>> changed = new ArrayList<>();
        Set<Place> pairs = new HashSet<>();
        for (int[] row : rows) {
            changed.add(Arrays.stream(row).mapToObj(number -> actions[number]).toList());
            Arrays.stream(row).filter(number -> second[number] != NONE)
                    .forEach(number -> pairs.add(new Place(rank[number], position[number])));
        }
        return plan.withRows(changed, pairs);
    }
}
