package dev.troupe.cli;

import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.family.Schedules;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A way to compute a small model, drawn by a seed: all with the same bits under {@code parallel.invariant}.
 *
 * @param model the index of the model in {@link #MODELS}
 * @param tensor the number of tensor-parallel ranks, which still changes bits; the model with a tied table divides its
 *     sequences too
 */
record DrawnGrid(int model, int tensor, int pipeline, int data, int expert, int zero, String schedule,
        int virtualStages, String layout, String recompute) {
    /** The settings of a small Llama, of one with a tied table, and of a mixture of experts. */
    static final List<List<String>> MODELS = List.of(
            List.of("model.family=llama", "model.tie-embeddings=false", "training.dropout=0.1"),
            List.of("model.family=llama", "model.tie-embeddings=true"),
            List.of("model.family=mixtral", "model.experts=4", "model.auxiliary-loss=0.02", "model.router-z-loss=0.001",
                    "model.tie-embeddings=false"));
    static final int MIXTURE = 2;
    private static final int TIED = 1;
    private static final int BLOCKS = 4;
    private static final int MICROBATCHES = 16;
    private static final int MOST_RANKS = 16;
    private static final List<String> RECOMPUTE = List.of("none", "selective", "full");

    /** One tensor-parallel group and no option. */
    static DrawnGrid plain(int model, int tensor) {
        return new DrawnGrid(model, tensor, 1, 1, 1, 0, "gpipe", 1, "uniform", "none");
    }

    /** Draws a grid for which its schedule is defined. */
    static DrawnGrid of(long seed) {
        Random random = new Random(seed * 0x9E3779B97F4A7C15L);
        while (true) {
            DrawnGrid grid = draw(random);
            if (grid.isDefined()) {
                return grid;
            }
        }
    }

    private static DrawnGrid draw(Random random) {
        int model = random.nextInt(MODELS.size());
        int data = 1 << random.nextInt(4);
        int expert = model == MIXTURE ? Math.min(data, 1 << random.nextInt(3)) : 1;
        int zero = expert > 1 ? 2 + random.nextInt(2) : random.nextInt(4);
        List<String> schedules = Schedules.names();
        Schedule schedule = Schedules.named(schedules.get(random.nextInt(schedules.size())));
        int virtualStages = schedule.usualVirtualStages();
        int pipeline = 1 << random.nextInt(3);
        return new DrawnGrid(model, 1 + random.nextInt(4) / 3, pipeline, data, expert, zero, schedule.name(),
                virtualStages,
                pipeline * virtualStages > BLOCKS || random.nextBoolean() ? "parameters" : "uniform",
                RECOMPUTE.get(random.nextInt(RECOMPUTE.size())));
    }

    private boolean isDefined() {
        if (tensor * pipeline * data > MOST_RANKS) {
            return false;
        }
        try {
            return !Schedules.named(schedule).plan(pipeline, virtualStages, MICROBATCHES / data).overlapsSteps();
        } catch (PlanException notDefined) {
            return false;
        }
    }

    /** Returns the settings of a run of 20 steps. */
    List<String> settings(String engine, String... more) {
        List<String> settings = new ArrayList<>(List.of("engine.kind=" + engine, "engine.threads=1",
                "data.path=" + Golden.named("mixtral").data(), "model.vocabulary-size=96", "model.layers=" + BLOCKS,
                "model.hidden=16", "model.heads=2", "model.inner=24", "model.sequence-length=8", "training.steps=20",
                "training.microbatch-size=1", "training.global-batch-size=" + MICROBATCHES,
                "training.gradient-clip=0.5", "training.learning-rate.peak=5e-3", "data.validation-fraction=0",
                "parallel.invariant=[data, expert]", "parallel.pipeline=" + pipeline, "parallel.data=" + data,
                "parallel.expert=" + expert, "parallel.tensor=" + tensor,
                "parallel.sequence=" + (model == TIED && tensor > 1), "parallel.schedule=" + schedule,
                "parallel.virtual-stages=" + virtualStages, "parallel.layout=" + layout, "training.zero=" + zero,
                "training.recompute=" + recompute, "transport.timeout=60s"));
        settings.addAll(MODELS.get(model));
        settings.addAll(List.of(more));
        return settings;
    }
}
