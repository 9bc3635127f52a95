package dev.troupe.schedule.search;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Placement;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.certificate.Certificate;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.lowering.AddTransfers;
import dev.troupe.schedule.search.ListScheduler.Rule;
import dev.troupe.schedule.search.ListScheduler.Scheduled;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Simulator;
import dev.troupe.schedule.simulator.StageCost;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * The search for the rows of one step under given costs, hops and memory: the schedules by name that fit, and list
 * scheduling under many rules. Shapes are one stage a rank, and two stages a rank there and again or there and back. First
 * all ranks have the same rule, one of all permutations; then the rule of a single rank changes, or the memory that it uses,
 * and a change remains if the step is no longer. The same seed gives the same plan.
 *
 * <p>Memory is spent on latency: more microbatches are on their way if hops are long and the memory has room for them. A
 * schedule by name that is within {@link #NEAR} of the lower bound is taken without a search.
 */
public final class ScheduleSearch {
    /** The distance from the bound, as a share of it, at which a schedule by name is good enough. */
    public static final double NEAR = 0.03;
    private static final List<Integer> VIRTUAL_STAGES = List.of(1, 2);

    private final PlanningProblem problem;
    private final int ranks;
    private final int microbatches;
    private final int changes;
    private final long seed;

    /**
     * @param problem the model and at least one machine for each rank, rank r on machine r
     * @param changes changes of a rule that are tried for each shape
     */
    public ScheduleSearch(PlanningProblem problem, int ranks, int microbatches, int changes, long seed) {
        this.problem = problem;
        this.ranks = ranks;
        this.microbatches = microbatches;
        this.changes = changes;
        this.seed = seed;
    }

    /**
     * The best plan that was found.
     *
     * @param certificate of the plan with its messages, with credits for all microbatches of an edge
     * @param stepNanos the simulated step
     * @param boundNanos a time below which no plan of any of the shapes can be
     * @param byName the best schedule by name; empty if none fits
     */
    public record Found(Candidate candidate, Certificate certificate, long stepNanos, long boundNanos,
            Optional<Candidate> byName) {
        /** Returns by how much the step is longer than the bound, as a share of the bound. */
        public double distance() {
            return (double) stepNanos / boundNanos - 1;
        }

        /** Returns whether the plan is a schedule by name. */
        public boolean isByName() {
            return byName.filter(candidate::equals).isPresent();
        }

        /** Returns the least credits of an edge with which the step is as short as without a limit. */
        public int leastCredits(Costs costs) {
            return ScheduleSearch.leastCredits(certificate.plan(), costs);
        }
    }

    /**
     * Returns the least credits of an edge with which the step of a plan is as short as without a limit.
     *
     * @param plan with its messages
     */
    public static int leastCredits(Plan plan, Costs costs) {
        long stepNanos = Simulator.run(plan, costs).makespanNanos();
        for (int credits = 1; credits < plan.microbatchCount(); credits++) {
            try {
                if (Simulator.run(plan, costs, credits).makespanNanos() == stepNanos) {
                    return credits;
                }
            } catch (PlanException deadlock) {
                continue;
            }
        }
        return plan.microbatchCount();
    }

    /**
     * Returns the plan with the shortest step; of equal ones a schedule by name, the one that needs
     * the least memory on any rank, and the one with the fewest messages.
     *
     * @throws IllegalArgumentException if no plan fits the memory; the message has the reason
     */
    public Found run() {
        List<Candidate> shapes = shapes();
        long bound = shapes.stream().mapToLong(this::boundNanos).min().orElse(Long.MAX_VALUE);
        List<Candidate> all = named();
        all.sort(Comparator.comparingLong(problem::mostBytes).thenComparing(this::hops));
        // The first of equal ones, as in the order of the list.
        Optional<Candidate> byName = all.stream().min(Comparator.comparingLong(problem::stepNanos));
        if (byName.isEmpty() || problem.stepNanos(byName.get()) > (1 + NEAR) * bound) {
            shapes.forEach(shape -> all.addAll(search(shape)));
        }
        Candidate best = all.stream().min(Comparator.comparingLong(problem::stepNanos)).orElse(null);
        if (best == null) {
            throw new IllegalArgumentException("no plan of " + ranks + " ranks fits: with one microbatch at a time "
                    + problem.refusal(oneByOne()).orElse("one stage a rank fits, so allow M below " + microbatches));
        }
        Certificate certificate = PlanValidator.certify(new AddTransfers().apply(best.plan()), Purpose.TRAINING,
                microbatches);
        return new Found(best, certificate, problem.stepNanos(best), bound, byName);
    }

    /** Returns the bytes of the fullest rank under a schedule by name; empty if it is not defined for these sizes. */
    public OptionalLong peakBytes(String schedule) {
        Schedule named = Schedules.named(schedule);
        try {
            return ranks * named.usualVirtualStages() > problem.units().size()
                    ? OptionalLong.empty()
                    : OptionalLong.of(
                            problem.mostBytes(candidate(named.plan(ranks, named.usualVirtualStages(), microbatches))));
        } catch (PlanException notDefined) {
            return OptionalLong.empty();
        }
    }

    /** Returns the number of messages of a microbatch on its way to the loss. */
    private long hops(Candidate candidate) {
        Plan plan = candidate.plan();
        return IntStream.range(0, plan.lastStage()).filter(stage -> plan.rankOf(stage, 0) != plan.rankOf(stage + 1, 0))
                .count();
    }

    /** Returns the candidate of one microbatch, which needs the least memory. */
    private Candidate oneByOne() {
        return candidate(Schedules.named("1f1b").plan(ranks, 1, 1));
    }

    private Candidate candidate(Plan plan) {
        int units = problem.units().size();
        return new Candidate(plan, BalancedPartition.of(problem, plan)
                .orElseGet(() -> Borders.uniform(units, plan.stageCount())));
    }

    /** Returns the schedules by name that are defined for these sizes and fit the memory. */
    List<Candidate> named() {
        List<Candidate> named = new ArrayList<>();
        for (String name : Schedules.names()) {
            for (int virtualStages : VIRTUAL_STAGES) {
                if (ranks * virtualStages > problem.units().size()) {
                    continue;
                }
                try {
                    named.add(candidate(Schedules.named(name).plan(ranks, virtualStages, microbatches)));
                } catch (PlanException notDefined) {
                    continue;
                }
            }
        }
        named.removeIf(each -> problem.excessBytes(each) > 0);
        return named;
    }

    private List<Candidate> shapes() {
        List<Candidate> shapes = new ArrayList<>();
        for (int virtualStages : VIRTUAL_STAGES) {
            for (Placement placement : virtualStages == 1 ? List.of(Laps.LOOP) : List.of(Laps.values())) {
                if (ranks * virtualStages <= problem.units().size()) {
                    List<List<Action>> rows = Collections.nCopies(ranks, List.of());
                    shapes.add(candidate(
                            new Plan("found", ranks, ranks * virtualStages, microbatches, placement, rows)));
                }
            }
        }
        return shapes;
    }

    /** Returns the best candidate of a shape; none if the shape does not fit. */
    private List<Candidate> search(Candidate shape) {
        ListScheduler scheduler = new ListScheduler(problem, shape);
        int classes = 3 * shape.plan().virtualStages();
        Rule rule = null;
        Scheduled best = null;
        for (int[] preference : permutations(classes)) {
            int[][] ofRanks = new int[ranks][];
            Arrays.fill(ofRanks, preference);
            Rule uniform = new Rule(ofRanks, scheduler.roomBytes());
            if (!scheduler.fits(uniform)) {
                return List.of();
            }
            Scheduled scheduled = scheduler.run(uniform);
            if (best == null || scheduled.stepNanos() < best.stepNanos()) {
                best = scheduled;
                rule = uniform;
            }
        }
        Random drawn = new Random(seed);
        long bound = boundNanos(shape);
        for (int change = 0; change < changes && best.stepNanos() > bound; change++) {
            Rule changed = rule.copy();
            for (int times = 1 + drawn.nextInt(2); times > 0; times--) {
                change(changed, scheduler.roomBytes(), drawn);
            }
            if (scheduler.fits(changed)) {
                Scheduled scheduled = scheduler.run(changed);
                if (scheduled.stepNanos() <= best.stepNanos()) {
                    best = scheduled;
                    rule = changed;
                }
            }
        }
        return List.of(shape.with(best.plan()));
    }

    /** Swaps two preferences of a rank, or draws the memory that it uses. */
    private static void change(Rule rule, long[] roomBytes, Random drawn) {
        int rank = drawn.nextInt(roomBytes.length);
        if (drawn.nextInt(4) > 0) {
            int[] preferences = rule.preferences()[rank];
            int one = drawn.nextInt(preferences.length);
            int other = drawn.nextInt(preferences.length);
            int kept = preferences[one];
            preferences[one] = preferences[other];
            preferences[other] = kept;
        } else {
            rule.roomBytes()[rank] = Math.round(roomBytes[rank] * (0.25 + 0.75 * drawn.nextDouble()));
        }
    }

    private static List<int[]> permutations(int count) {
        List<int[]> all = new ArrayList<>();
        permute(new int[count], 0, 0, all);
        return all;
    }

    private static void permute(int[] chosen, int length, int used, List<int[]> all) {
        if (length == chosen.length) {
            all.add(chosen.clone());
            return;
        }
        for (int next = 0; next < chosen.length; next++) {
            if ((used >> next & 1) == 0) {
                chosen[length] = next;
                permute(chosen, length + 1, used | 1 << next, all);
            }
        }
    }

    /**
     * Returns a time below which no plan of these stages can be: a rank cannot begin before the first microbatch has
     * reached its first stage, and then has all its work to do.
     */
    private long boundNanos(Candidate shape) {
        Costs costs = problem.costs(shape);
        Plan plan = shape.plan();
        long[] heads = new long[ranks];
        long[] work = new long[ranks];
        Arrays.fill(heads, -1);
        long arrival = 0;
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            StageCost cost = costs.stages().get(stage);
            int rank = plan.rankOf(stage, 0);
            heads[rank] = heads[rank] < 0 ? arrival : heads[rank];
            work[rank] += microbatches * (cost.forwardNanos()
                    + Math.min(cost.fullBackwardNanos(), cost.backwardInputNanos() + cost.backwardWeightNanos()));
            arrival += cost.forwardNanos();
            if (stage < plan.lastStage() && plan.rankOf(stage + 1, 0) != rank) {
                var hop = costs.hops().between(rank, plan.rankOf(stage + 1, 0));
                arrival += hop.occupancyNanos(cost.outputBytes()) + hop.latencyNanos();
            }
        }
        long bound = 0;
        for (int rank = 0; rank < ranks; rank++) {
            bound = Math.max(bound, heads[rank] + work[rank]);
        }
        return bound;
    }
}
