package dev.troupe.plan.planner;

import dev.troupe.config.spec.MemorySpec;
import dev.troupe.schedule.family.PipeDream2Bw;
import java.util.HashMap;
import java.util.Map;

/**
 * One candidate of the search: a value of each key that the planner chooses.
 *
 * @param virtualStages V, stages of a rank
 * @param warmUp {@code parallel.warm-up}, which counts if the schedule overlaps steps
 * @param layout {@code parallel.layout}
 * @param sharesSequence {@code parallel.sequence}
 * @param replaysAhead whether all blocks are replayed ahead of their gradient, if they are replayed
 */
public record PlanChoice(PlanGrid grid, String schedule, int virtualStages, int warmUp, String layout, int zero,
        boolean sharesSequence, MemorySpec.Recompute recompute, boolean replaysAhead) {
    /** Returns the number of stages. */
    public int stageCount() {
        return grid.pipeline() * virtualStages;
    }

    /** Returns the values of the keys that make it, without {@code troupe.}; others are as the user has them. */
    public Map<String, Object> settings() {
        Map<String, Object> settings = new HashMap<>(grid.settings());
        settings.put("parallel.schedule", schedule);
        settings.put("parallel.virtual-stages", virtualStages);
        if (schedule.equals(PipeDream2Bw.NAME)) {
            settings.put("parallel.warm-up", warmUp);
        }
        settings.put("parallel.layout", layout);
        settings.put("parallel.sequence", sharesSequence);
        settings.put("training.zero", zero);
        settings.put("training.recompute", recompute.word());
        if (recompute == MemorySpec.Recompute.FULL) {
            settings.put("training.recompute-ahead", replaysAhead ? "all" : "none");
        }
        return settings;
    }

    /** Such as {@code P=4 T=1 D=2 b=1 M=8 1f1b V=1 uniform zero=1 recompute=full}. */
    @Override
    public String toString() {
        return grid + " " + schedule + " V=" + virtualStages + (warmUp > 1 ? " warm-up=" + warmUp : "") + " " + layout
                + (zero > 0 ? " zero=" + zero : "") + (sharesSequence ? " sequence" : "")
                + (recompute == MemorySpec.Recompute.NONE
                        ? ""
                        : " recompute=" + recompute.word() + (replaysAhead ? "-ahead" : ""));
    }
}
