package dev.troupe.protocol.run;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.Replicas;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.schedule.family.ForwardOnly;
import dev.troupe.schedule.family.OverlappingRule;
import dev.troupe.schedule.family.OverlappingSteps;
import dev.troupe.schedule.family.PipeDream;
import dev.troupe.schedule.family.PipeDream2Bw;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.lowering.WholeStep;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A small run to simulate: P places, V stages on each, M microbatches, tied embeddings or not, ranks in a grid. */
record RunShape(String schedule, int pipeline, int virtualStages, int microbatches, boolean tied, int credits,
        Grid grid) {
    static final int HELD_OUT_MICROBATCHES = 3;
    /** After the name of a schedule: forwards are replayed ahead of their gradients. */
    private static final String REPLAYING = "+recompute";
    /** After the name of a schedule, before the ranks of each stage with dots between. */
    private static final String REPLICAS = ":";
    /** The steps of a pass of PipeDream-2BW: the third one reads the update of the first one. */
    private static final int OVERLAPPING_STEPS = 3;
    /** Certifying a plan takes longer than running it. */
    private static final Map<RunShape, SimulatedPlan> PLANS = new ConcurrentHashMap<>();

    /** Creates a run of one pipeline, with a rank for each place. */
    RunShape(String schedule, int pipeline, int virtualStages, int microbatches, boolean tied, int credits) {
        this(schedule, pipeline, virtualStages, microbatches, tied, credits, Grid.ONE);
    }

    /**
     * Returns every schedule with every P, V and M up to these for which it is defined, tied and not, with these credits.
     */
    static List<RunShape> upTo(int pipeline, int microbatches, int credits) {
        return upTo(pipeline, microbatches, credits, Grid.ONE);
    }

    /** The same with the ranks of a grid at each place. */
    static List<RunShape> upTo(int pipeline, int microbatches, int credits, Grid grid) {
        List<RunShape> shapes = new ArrayList<>();
        for (String schedule : Schedules.names()) {
            for (int p = 1; p <= pipeline; p++) {
                for (int v = 1; v <= 2; v++) {
                    for (int m = 1; m <= microbatches; m++) {
                        if (isDefined(schedule, p, v, m)) {
                            shapes.add(new RunShape(schedule, p, v, m, true, credits, grid));
                            shapes.add(new RunShape(schedule, p, v, m, false, credits, grid));
                        }
                    }
                }
            }
        }
        return shapes;
    }

    /**
     * Returns PipeDream-2BW with every P and M up to these for which it is defined, tied and not, and PipeDream with
     * stashing and with vertical sync, tied on one rank.
     */
    static List<RunShape> overlappingUpTo(int pipeline, int microbatches, int credits) {
        return overlappingUpTo(pipeline, microbatches, credits, Grid.ONE);
    }

    /** The same with the ranks of a grid at each place. */
    static List<RunShape> overlappingUpTo(int pipeline, int microbatches, int credits, Grid grid) {
        List<RunShape> shapes = new ArrayList<>();
        for (int p = 1; p <= pipeline; p++) {
            shapes.add(new RunShape(PipeDream.STASHING, p, 1, 1, p == 1, credits, grid));
            shapes.add(new RunShape(PipeDream.VERTICAL_SYNC, p, 1, 1, p == 1, credits, grid));
            for (int m = Math.max(1, p - 1); m <= microbatches; m++) {
                shapes.add(new RunShape(PipeDream2Bw.NAME, p, 1, m, true, credits, grid));
                shapes.add(new RunShape(PipeDream2Bw.NAME, p, 1, m, false, credits, grid));
            }
        }
        return shapes;
    }

    /** Returns PipeDream with these ranks of each stage. */
    static RunShape replicated(int credits, Integer... replicas) {
        return new RunShape(PipeDream.STASHING + REPLICAS + Stream.of(replicas).map(String::valueOf)
                .collect(Collectors.joining(".")), replicas.length, 1, 1, false, credits);
    }

    /** Returns the shapes with forwards that are replayed ahead of their gradients, for those that have any. */
    static List<RunShape> replaying(List<RunShape> shapes) {
        return shapes.stream().filter(shape -> shape.pipeline > 1).map(shape -> new RunShape(shape.schedule + REPLAYING,
                shape.pipeline, shape.virtualStages, shape.microbatches, shape.tied, shape.credits, shape.grid))
                .toList();
    }

    /** Returns the shape of the words of {@link #name}. */
    static RunShape named(List<String> words) {
        return new RunShape(words.get(0), Integer.parseInt(words.get(1)), Integer.parseInt(words.get(2)),
                Integer.parseInt(words.get(3)), words.get(4).equals("tied"), Integer.parseInt(words.get(5)),
                new Grid(Integer.parseInt(words.get(6)), Integer.parseInt(words.get(7))));
    }

    /** Returns words with commas between: schedule, P, V, M, tied or not, credits, D, T. */
    String name() {
        return String.join(",", schedule, Integer.toString(pipeline), Integer.toString(virtualStages),
                Integer.toString(microbatches), tied ? "tied" : "untied", Integer.toString(credits),
                Integer.toString(grid.data()), Integer.toString(grid.tensor()));
    }

    private static boolean isDefined(String schedule, int p, int v, int m) {
        try {
            Schedules.named(schedule).plan(p, v, m);
            return true;
        } catch (PlanException undefined) {
            return false;
        }
    }

    /** Returns the steps from one commit to the next. */
    int stepsPerPass() {
        if (!replicas().isEmpty()) {
            return 2 * new Replicas(replicas()).round();
        }
        return !Schedules.overlapsSteps(named()) ? 1 : updateAlone() ? pipeline + 1 : OVERLAPPING_STEPS;
    }

    /** Returns whether stages update alone: nothing is clipped then, and the loss is not scaled. */
    boolean updateAlone() {
        return Schedules.overlapsSteps(named()) && !named().equals(PipeDream2Bw.NAME);
    }

    private Schedule rule() {
        return Schedules.overlapsSteps(named())
                ? new OverlappingSteps(OverlappingRule.named(named(), PipeDream2Bw.Updates.LAZY, 1, replicas()),
                        stepsPerPass())
                : Schedules.named(named());
    }

    private String named() {
        return schedule.replace(REPLAYING, "").replaceFirst(REPLICAS + ".*", "");
    }

    private List<Integer> replicas() {
        int at = schedule.indexOf(REPLICAS);
        return at < 0 ? List.of() : Stream.of(schedule.substring(at + 1).split("\\.")).map(Integer::valueOf).toList();
    }

    int rankCount() {
        return replicas().isEmpty() ? pipeline * grid.ranksPerPlace() : new Replicas(replicas()).rankCount();
    }

    SimulatedPlan plan() {
        return PLANS.computeIfAbsent(this, RunShape::makePlan);
    }

    private SimulatedPlan makePlan() {
        Plan compute = rule().plan(pipeline, virtualStages, microbatches);
        Plan forwards = new ForwardOnly(compute.placement()).plan(pipeline, virtualStages, HELD_OUT_MICROBATCHES);
        WholeStep step = new WholeStep(schedule.endsWith(REPLAYING), tied, false, grid.data() > 1, false);
        return new SimulatedPlan(grid, tied,
                PlanValidator.certify(step.training(compute), Purpose.TRAINING, credits),
                PlanValidator.certify(step.forwards(forwards), Purpose.FORWARD_ONLY, credits));
    }
}
