package dev.troupe.machine;

import dev.troupe.schedule.Action;
import java.util.List;

/**
 * What one rank does in a pass, as its plan was certified.
 *
 * @param actions
 *            its row of the lowered plan
 * @param peakActivations
 *            the most activations (microbatch x stage) it may hold at a time
 */
public record RankRow(List<Action> actions, int peakActivations) {
    public RankRow {
        actions = List.copyOf(actions);
    }
}
