package dev.troupe.protocol.run;

import dev.troupe.config.group.ParallelLayout;
import dev.troupe.model.ModelSpec;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.stage.StageSettings;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.parallel.Zero;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.family.Schedules;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A small run to simulate: P ranks, V stages on each, M microbatches, tied embeddings or not. */
record RunShape(String schedule, int pipeline, int virtualStages, int microbatches, boolean tied, int credits) {
    static final int HELD_OUT_MICROBATCHES = 3;
    private static final int LAYERS = 8;
    /** To certify a plan takes longer than to run it. */
    private static final Map<RunShape, TrainingPlan> PLANS = new ConcurrentHashMap<>();

    /** Every schedule with every P, V and M up to these that it is defined for, tied and not, with these credits. */
    static List<RunShape> upTo(int pipeline, int microbatches, int credits) {
        List<RunShape> shapes = new ArrayList<>();
        for (String schedule : Schedules.names()) {
            for (int p = 1; p <= pipeline; p++) {
                for (int v = 1; v <= 2; v++) {
                    for (int m = 1; m <= microbatches; m++) {
                        if (isDefined(schedule, p, v, m)) {
                            shapes.add(new RunShape(schedule, p, v, m, true, credits));
                            shapes.add(new RunShape(schedule, p, v, m, false, credits));
                        }
                    }
                }
            }
        }
        return shapes;
    }

    /** The shape of these words, as {@link #name} has them. */
    static RunShape named(List<String> words) {
        return new RunShape(words.get(0), Integer.parseInt(words.get(1)), Integer.parseInt(words.get(2)),
                Integer.parseInt(words.get(3)), words.get(4).equals("tied"), Integer.parseInt(words.get(5)));
    }

    /** In words with commas between: schedule, P, V, M, tied or not, credits. */
    String name() {
        return String.join(",", schedule, Integer.toString(pipeline), Integer.toString(virtualStages),
                Integer.toString(microbatches), tied ? "tied" : "untied", Integer.toString(credits));
    }

    private static boolean isDefined(String schedule, int p, int v, int m) {
        try {
            Schedules.named(schedule).plan(p, v, m);
            return true;
        } catch (PlanException undefined) {
            return false;
        }
    }

    TrainingPlan plan() {
        return PLANS.computeIfAbsent(this, RunShape::makePlan);
    }

    private TrainingPlan makePlan() {
        ModelSpec model = new Gpt2(LAYERS, 4, 1, 4, 8, tied, Gpt2.NORM_EPSILON).spec();
        return TrainingPlan.of(model, new StageSettings(1, 4, microbatches, new Optimizer.Sgd(0)), "uniform",
                Schedules.named(schedule), new ParallelLayout(pipeline, 1, 1), false, Zero.NONE, virtualStages,
                HELD_OUT_MICROBATCHES, credits);
    }
}
