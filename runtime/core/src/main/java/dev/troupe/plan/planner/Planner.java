package dev.troupe.plan.planner;

import dev.troupe.config.RunSpec;
import dev.troupe.config.spec.MemorySpec;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.StreamSharding;
import dev.troupe.parallel.Zero;
import dev.troupe.partition.TensorSharing;
import dev.troupe.plan.OptimizerChoice;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.error.UserErrors;
import dev.troupe.plan.memory.MemoryPlan;
import dev.troupe.plan.memory.RankMemory;
import dev.troupe.plan.planner.PlanRefusals.Kind;
import dev.troupe.plan.prepare.OpenedRun;
import dev.troupe.plan.prepare.PlannedRun;
import dev.troupe.plan.prepare.SizedRun;
import dev.troupe.plan.profile.StepInterval;
import dev.troupe.schedule.Laps;
import dev.troupe.schedule.search.Machine;
import dev.troupe.schedule.search.PlanningProblem;
import dev.troupe.schedule.search.Unit;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.StageCost;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.stream.IntStream;

/**
 * The search for the plans with the shortest predicted step, by branch and bound. A node is a grid or a candidate of one;
 * the node with the least bound is opened next, and the search ends when no bound is below the plans that were found. A
 * candidate is lowered, certified, simulated and sized by the code that prepares a run. Of equal steps the first in the
 * order of {@link SearchSpace} counts as better.
 *
 * <p>A candidate that saves memory is left out if the same candidate without that saving fits: it is never shorter.
 *
 * <p>Source: Land and Doig, An automatic method of solving discrete programming problems, 1960.
 *
 * <p>Thread rule: one thread.
 */
public final class Planner {
    private final OpenedRun opened;
    private final PlanRequest request;
    private final StepCosts costs;
    private final StepBound bound;
    private final Optimizer optimizer;
    private final int elementBytes;
    private final SearchSpace space;
    private final PlanRefusals refusals = new PlanRefusals();
    private final StageTimes times;
    private final Layouts layouts;
    private final MachineFigures figures;
    private final Map<String, List<String>> names = new HashMap<>();
    private long candidates;
    private int openedGrids;
    private int certified;
    private int simulated;
    private int sized;

    /**
     * @param opened the model and data, of a run with the values that the planner does not choose
     * @param times the times of the model's layers
     */
    public Planner(OpenedRun opened, PlanRequest request, MachineFigures figures, StageTimes times) {
        RunSpec spec = opened.spec();
        this.opened = opened;
        this.request = request;
        this.elementBytes = opened.whole().choice().settings().parameterType().elementBytes();
        this.costs = new StepCosts(times, figures, opened.whole().choice().settings(),
                opened.whole().start().sequenceLength(), spec.training().update().roundsGradients());
        this.bound = new StepBound(costs, spec.parallel().splitCoolDown());
        this.times = times;
        this.figures = figures;
        this.optimizer = OptimizerChoice.of(spec, opened.model());
        this.layouts = new Layouts(opened.model(), optimizer);
        this.space = new SearchSpace(opened.model(), request, figures.nodeRanks(), spec.training().microbatchSize());
    }

    /** A grid, or a candidate of it; {@code order} decides between equal bounds. */
    private record Node(long boundNanos, long order, PlanGrid grid, Optional<PlanChoice> choice) {
    }

    /** The plans that were found, the shortest first, and what is known of candidates that differ in memory alone. */
    private final class Found {
        private final int most;
        private final List<PricedPlan> best = new ArrayList<>();
        private final Map<PlanChoice, List<PlanChoice>> settled = new HashMap<>();

        Found(int most) {
            this.most = most;
        }

        /** Returns the step that a plan has to beat. */
        long limitNanos() {
            return best.size() < most ? Long.MAX_VALUE : best.getLast().stepNanos();
        }

        /** Adds a plan, unless one that differs in its savings of memory alone is not longer. */
        void add(PricedPlan plan) {
            if (best.stream().anyMatch(other -> alike(other.choice()).equals(alike(plan.choice()))
                    && other.stepNanos() <= plan.stepNanos())) {
                return;
            }
            best.removeIf(other -> alike(other.choice()).equals(alike(plan.choice())));
            best.add(plan);
            best.sort(Comparator.comparingLong(PricedPlan::stepNanos)); // stable: the first found of equal ones
            if (best.size() > most) {
                best.removeLast();
            }
        }

        boolean isSettled(PlanChoice choice) {
            return settled.getOrDefault(alike(choice), List.of()).stream().anyMatch(other -> isNeverLonger(other,
                    choice));
        }

        void settle(PlanChoice choice) {
            settled.computeIfAbsent(alike(choice), _ -> new ArrayList<>()).add(choice);
        }
    }

    /** Returns the candidate without what only saves memory. */
    private static PlanChoice alike(PlanChoice choice) {
        return new PlanChoice(choice.grid(), choice.schedule(), choice.virtualStages(), choice.warmUp(),
                choice.layout(), 0, false, MemorySpec.Recompute.NONE, false);
    }

    /** Weights of ZeRO 3 are gathered while others compute, so that its step may be shorter than with ZeRO 1 and 2. */
    private static boolean isNeverLonger(PlanChoice one, PlanChoice other) {
        boolean zero = one.zero() == other.zero() || one.zero() == 0 || other.zero() < 3 && one.zero() < other.zero();
        boolean recomputes = one.recompute().compareTo(other.recompute()) < 0 || one.recompute() == other.recompute()
                && one.replaysAhead() == other.replaysAhead();
        return zero && recomputes && (!one.sharesSequence() || other.sharesSequence());
    }

    /**
     * Searches.
     *
     * @throws UsageException if nothing fits, with the number that the nearest candidate needs
     */
    public PlanAnswer run() {
        long begin = System.nanoTime();
        requireOneLayer();
        List<PlanGrid> grids = space.grids();
        List<PricedPlan> best = search(grids, request.top());
        if (best.isEmpty()) {
            throw new UsageException(nothingFits());
        }
        Map<PlanChoice, StepInterval> intervals = new HashMap<>();
        best.forEach(plan -> times.interval(others -> PricedPlan.stepNanos(plan.plan(),
                costs.of(plan.choice(), cut(plan.choice()), plan.plan(), others.of(plan.plan()))))
                .ifPresent(interval -> intervals.put(plan.choice(), interval)));
        Map<Kind, PlanRefusals.Refusal> refused = refusals.byKind();
        Optional<PricedPlan> single = best.stream().filter(plan -> plan.choice().grid().pipeline() == 1).findFirst()
                .or(() -> search(grids.stream().filter(grid -> grid.pipeline() == 1).toList(), 1).stream()
                        .findFirst());
        return new PlanAnswer(best, intervals, single, refused,
                new PlanAnswer.Cost(openedGrids, grids.size(), candidates,
                        certified, simulated, sized, (System.nanoTime() - begin) / 1e9));
    }

    /**
     * Returns the costs of a plan's layers and of its links as a problem of a search: rank r on the machine of place r. Each
     * layer keeps one byte of a microbatch, and memory has no limit; sums among ranks are left out.
     */
    public PlanningProblem problem(PricedPlan plan) {
        PlanGrid grid = plan.choice().grid();
        RankLinks links = RankLinks.of(grid, figures);
        long bytes = plan.plan().boundaryBytes(opened.whole().choice().settings().computeType());
        List<Unit> units = layers(grid).stream().map(layer -> new Unit("layer", new StageCost(layer.forwardNanos(),
                layer.backwardInputNanos(), layer.backwardWeightNanos(), layer.fullBackwardNanos(), bytes), 0, 1))
                .toList();
        return new PlanningProblem(units, IntStream.range(0, grid.pipeline())
                .mapToObj(place -> new Machine(links.speed(place), Long.MAX_VALUE)).toList(), links::between,
                costs.sharedBytes(opened.model(), plan.choice()));
    }

    /**
     * Returns a candidate with its price; empty if it exceeds the memory or cannot be planned.
     *
     * @param credits of an edge
     */
    public Optional<PricedPlan> priced(PlanChoice choice, int credits) {
        try {
            RunSpec spec = opened.spec().with(choice.settings()).with(Map.of("transport.credits", credits));
            PlannedRun planned = PlannedRun.of(opened.with(spec));
            Costs prices = costs.of(choice, cut(choice), planned.plan());
            RankMemory fullest = fullest(planned);
            return fullest.total() > request.memoryBytes()
                    ? Optional.empty()
                    : Optional.of(new PricedPlan(choice, spec, planned.plan(), prices,
                            PricedPlan.stepNanos(planned.plan(), prices), fullest));
        } catch (RuntimeException refused) {
            if (UserErrors.sentenceOf(refused).isEmpty()) {
                throw refused;
            }
            return Optional.empty();
        }
    }

    private static RankMemory fullest(PlannedRun planned) {
        return SizedRun.of(planned).memory().ranks().stream().max(Comparator.comparingLong(RankMemory::total))
                .orElseThrow();
    }

    /** Returns a plan as a run on the engine {@code emulated} with the times that the planner has, and its prediction. */
    public PricedPlan emulated(PricedPlan plan) {
        if (!figures.speeds().isEmpty()) {
            throw new UsageException("--emulated runs in one process with one speed, but the machines have the speeds "
                    + figures.speeds() + ": write the plan with --out, and run it with ./troupe launch on nodes with"
                    + " emulated-speed");
        }
        RunSpec spec = plan.spec().with(times.emulation(plan.plan()));
        try (OpenedRun other = OpenedRun.of(opened.request().with(spec))) {
            PlannedRun planned = PlannedRun.of(other);
            List<StageCost> stages = StageTimes.ofCosts(planned.engine().settings().costs(),
                    planned.plan().partition().stageCount());
            Costs prices = costs.of(plan.choice(), cut(plan.choice()), planned.plan(), stages);
            return new PricedPlan(plan.choice(), spec, planned.plan(), prices,
                    PricedPlan.stepNanos(planned.plan(), prices), plan.fullest());
        }
    }

    private void requireOneLayer() {
        opened.model().layers().forEach(layer -> {
            long least = StageSize.of(List.of(layer), optimizer).leastBytes(request.ranks(), 1, Zero.NONE,
                    elementBytes);
            if (least > request.memoryBytes()) {
                throw new UsageException("--memory is " + MemoryPlan.text(request.memoryBytes()) + ", but the layer "
                        + layer.name() + " alone takes " + MemoryPlan.text(least) + " on each of " + request.ranks()
                        + " ranks that share it: give more memory or more ranks, or take a smaller model");
            }
        });
    }

    private String nothingFits() {
        Map<Kind, PlanRefusals.Refusal> refused = refusals.byKind();
        for (Kind kind : List.of(Kind.MEMORY, Kind.SCHEDULE, Kind.PROFILE, Kind.MODEL)) {
            if (refused.containsKey(kind)) {
                return "no plan of " + request.ranks() + (request.ranks() == 1 ? " rank" : " ranks") + " fits; the"
                        + " nearest: " + refused.get(kind).reason()
                        + ": give more memory or more ranks, or take a smaller model or batch";
            }
        }
        return "no grid of " + request.ranks() + " ranks divides " + request.batchSize()
                + " sequences of a step: change --tokens-per-step";
    }

    private List<PricedPlan> search(List<PlanGrid> grids, int top) {
        Found found = new Found(top);
        PriorityQueue<Node> nodes = new PriorityQueue<>(
                Comparator.comparingLong(Node::boundNanos).thenComparingLong(Node::order));
        long order = 0;
        for (PlanGrid grid : grids) {
            Optional<String> refusal = TensorSharing.refusal(opened.model(),
                    grid.microbatchSize() * opened.whole().start().sequenceLength(), grid.tensor(),
                    StreamSharding.of(false), false);
            Optional<String> obstacle = times.obstacle(grid);
            if (refusal.isPresent()) {
                refusals.add(Kind.MODEL, 1, 0, refusal::get);
            } else if (obstacle.isPresent()) {
                refusals.add(Kind.PROFILE, 1, 0, obstacle::get);
            } else {
                nodes.add(new Node(StepBound.nanos(grid, layers(grid)), order++, grid, Optional.empty()));
            }
        }
        while (!nodes.isEmpty() && nodes.peek().boundNanos() < found.limitNanos()) {
            Node node = nodes.remove();
            if (node.choice().isPresent()) {
                price(node.choice().get(), found);
                continue;
            }
            openedGrids++;
            for (PlanChoice choice : space.choices(node.grid(), stages -> layouts(node.grid(), stages))) {
                candidates++;
                Cut cut = cut(choice);
                if (fitsState(choice, cut)) {
                    nodes.add(new Node(bound.nanos(choice, cut), order++, node.grid(), Optional.of(choice)));
                }
            }
        }
        if (!nodes.isEmpty()) {
            Node next = nodes.peek();
            refusals.add(Kind.BOUND, nodes.size(), next.boundNanos(), () -> String.format(Locale.ROOT,
                    "%s cannot be below %.4g s",
                    next.choice().map(PlanChoice::toString).orElseGet(() -> next.grid().toString()),
                    next.boundNanos() / 1e9));
        }
        return found.best;
    }

    private List<StageCost> layers(PlanGrid grid) {
        return costs.layers(opened.model(), grid);
    }

    private Cut cut(PlanChoice choice) {
        return layouts.cut(choice.stageCount(), choice.layout()).orElseThrow();
    }

    private List<String> layouts(PlanGrid grid, int stageCount) {
        String places = figures.speeds().isEmpty() ? "" : grid.toString();
        return names.computeIfAbsent(grid.tensor() + " " + grid.microbatchSize() + " " + stageCount + places,
                _ -> layouts.of(stageCount, layers(grid), speeds(grid, stageCount)));
    }

    /** Returns for each placement of stages the speed of the machine of each; one list if all machines are equal. */
    private List<double[]> speeds(PlanGrid grid, int stageCount) {
        RankLinks links = RankLinks.of(grid, figures);
        return Arrays.stream(Laps.values()).limit(figures.speeds().isEmpty() ? 1 : Laps.values().length)
                .map(laps -> IntStream.range(0, stageCount)
                        .mapToDouble(stage -> links.speed(laps.rankOf(stage, 0, grid.pipeline()))).toArray())
                .toList();
    }

    /** Returns the step of a plan on machines with other figures. */
    public long stepNanos(PricedPlan plan, MachineFigures others) {
        return PricedPlan.stepNanos(plan.plan(), costs.with(others).of(plan.choice(), cut(plan.choice()),
                plan.plan()));
    }

    private boolean fitsState(PlanChoice choice, Cut cut) {
        for (int stage = 0; stage < cut.sizes().size(); stage++) {
            long bytes = cut.sizes().get(stage).leastBytes(choice.grid().tensor(), choice.grid().data(),
                    Zero.of(choice.zero()), elementBytes);
            if (bytes > request.memoryBytes()) {
                refusals.add(Kind.MEMORY, 1, bytes - request.memoryBytes(),
                        () -> choice + ": weights, gradients and optimizer state of a stage alone are "
                                + MemoryPlan.text(bytes) + ", but a rank has "
                                + MemoryPlan.text(request.memoryBytes()));
                return false;
            }
        }
        return true;
    }

    private void price(PlanChoice choice, Found found) {
        if (found.isSettled(choice)) {
            refusals.add(Kind.SLOWER, 1, Long.MAX_VALUE, () -> choice + " saves memory that is not short");
            return;
        }
        try {
            RunSpec spec = opened.spec().with(choice.settings());
            PlannedRun planned = PlannedRun.of(opened.with(spec));
            certified++;
            Costs prices = costs.of(choice, cut(choice), planned.plan());
            long step = PricedPlan.stepNanos(planned.plan(), prices);
            simulated++;
            if (step >= found.limitNanos()) {
                found.settle(choice);
                refusals.add(Kind.SLOWER, 1, step - found.limitNanos(),
                        () -> String.format(Locale.ROOT, "%s would take %.4g s", choice, step / 1e9));
                return;
            }
            RankMemory fullest = fullest(planned);
            sized++;
            if (fullest.total() > request.memoryBytes()) {
                refusals.add(Kind.MEMORY, 1, fullest.total() - request.memoryBytes(), () -> choice + ": rank "
                        + fullest.rank() + " needs " + MemoryPlan.text(fullest.total())
                        + fullest.fullestAt().map(action -> " at " + action).orElse("") + ", but has "
                        + MemoryPlan.text(request.memoryBytes()));
                return;
            }
            found.settle(choice);
            found.add(new PricedPlan(choice, spec, planned.plan(), prices, step, fullest));
        } catch (RuntimeException refused) {
            String sentence = UserErrors.sentenceOf(refused).orElseThrow(() -> refused);
            refusals.add(Kind.SCHEDULE, 1, 0, () -> choice + ": " + sentence);
        }
    }
}
