package dev.troupe.plan.planner.machine;

import dev.troupe.plan.planner.MachineFigures;
import dev.troupe.plan.planner.PlanAnswer;
import dev.troupe.plan.planner.Planner;
import dev.troupe.schedule.simulator.Hop;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * The search for the order of the machines in a pipeline by their measured links and speeds. Up to three machines, the best
 * plan is searched for each order. For more, it starts with the order of the configuration and with a chain of fast links.
 * For the best plan of an order the machines are put in other orders: all of them up to seven machines, else by exchanges of
 * two while one shortens the step. The plan is then searched again for the better order, until none is better. Ranks fill
 * the machines in this order, so that a slow machine may be left out.
 *
 * @param planners makes a planner for machines in some order
 * @param figures of the machines in the order of the configuration
 */
public record MeasuredPlacement(Function<MachineFigures, Planner> planners, MachineFigures figures, int machines) {
    /** 5040 orders, each with a simulation. */
    private static final int MOST_EXHAUSTIVE = 7;
    private static final int MOST_PLANNED = 3;
    private static final long MESSAGE_BYTES = 1 << 20;

    /**
     * A search's result.
     *
     * @param order for each place the index of its machine
     * @param ruleNanos the step of the best plan with the machines in the order of the configuration
     */
    public record Placed(Planner planner, PlanAnswer answer, List<Integer> order, long ruleNanos) {
        public Placed {
            order = List.copyOf(order);
        }

        /** Returns the predicted step. */
        public long stepNanos() {
            return answer.best().getFirst().stepNanos();
        }
    }

    /** Returns the best plan with machines in a given order. */
    public Placed in(List<Integer> order) {
        Planner planner = planners.apply(figures.inOrder(order));
        PlanAnswer answer = planner.run();
        return new Placed(planner, answer, order, answer.best().getFirst().stepNanos());
    }

    /** Returns the best plan that was found with machines in any order; in the order of the file if none is better. */
    public Placed best() {
        Placed rule = in(IntStream.range(0, machines).boxed().toList());
        if (figures.measured().isEmpty() && figures.speeds().isEmpty()) {
            return rule;
        }
        Placed best = rule;
        for (List<Integer> start : machines <= MOST_PLANNED ? orders() : List.of(chain())) {
            Placed placed = start.equals(rule.order()) ? rule : in(start);
            best = placed.stepNanos() < best.stepNanos() ? placed : best;
        }
        best = machines <= MOST_PLANNED ? best : improved(best);
        return new Placed(best.planner(), best.answer(), best.order(), rule.stepNanos());
    }

    private Placed improved(Placed start) {
        Placed best = start;
        while (true) {
            List<Integer> order = machines <= MOST_EXHAUSTIVE ? ofAll(best) : byExchanges(best);
            if (order.equals(best.order())) {
                return best;
            }
            Placed next = in(order);
            if (next.stepNanos() >= best.stepNanos()) {
                return best;
            }
            best = next;
        }
    }

    private long nanos(Placed of, List<Integer> order) {
        return of.planner().stepNanos(of.answer().best().getFirst(), figures.inOrder(order));
    }

    /** Returns the chain from the fastest machine in which each is followed by the one with the quickest way. */
    private List<Integer> chain() {
        List<Integer> chain = new ArrayList<>();
        List<Integer> left = new ArrayList<>(IntStream.range(0, machines).boxed()
                .sorted(Comparator.comparingDouble(machine -> -figures.speed(machine))).toList());
        chain.add(left.removeFirst());
        while (!left.isEmpty()) {
            int last = chain.getLast();
            Integer next = Collections.min(left, Comparator.comparingLong(machine -> {
                Hop way = figures.way(last, machine);
                return way.latencyNanos() + way.occupancyNanos(MESSAGE_BYTES);
            }));
            left.remove(next);
            chain.add(next);
        }
        return chain;
    }

    /** Returns all orders. */
    public List<List<Integer>> orders() {
        List<List<Integer>> orders = new ArrayList<>();
        permute(new ArrayList<>(), orders);
        return orders;
    }

    private List<Integer> ofAll(Placed of) {
        List<Integer> best = of.order();
        long least = of.stepNanos();
        for (List<Integer> order : orders()) {
            long nanos = nanos(of, order);
            if (nanos < least) {
                least = nanos;
                best = order;
            }
        }
        return best;
    }

    private void permute(List<Integer> begun, List<List<Integer>> all) {
        if (begun.size() == machines) {
            all.add(List.copyOf(begun));
            return;
        }
        for (int machine = 0; machine < machines; machine++) {
            if (!begun.contains(machine)) {
                begun.addLast(machine);
                permute(begun, all);
                begun.removeLast();
            }
        }
    }

    private List<Integer> byExchanges(Placed of) {
        List<Integer> best = of.order();
        long least = of.stepNanos();
        for (boolean isBetter = true; isBetter;) {
            isBetter = false;
            List<Integer> from = best;
            for (int one = 0; one < machines; one++) {
                for (int other = one + 1; other < machines; other++) {
                    List<Integer> exchanged = new ArrayList<>(from);
                    Collections.swap(exchanged, one, other);
                    long nanos = nanos(of, exchanged);
                    if (nanos < least) {
                        least = nanos;
                        best = exchanged;
                        isBetter = true;
                    }
                }
            }
        }
        return best;
    }
}
