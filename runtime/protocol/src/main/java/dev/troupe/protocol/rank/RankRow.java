package dev.troupe.protocol.rank;

import dev.troupe.protocol.FixedOrder;
import dev.troupe.schedule.Action;
import java.util.List;
import java.util.Set;

/**
 * What one rank does in a pass, as its plan was certified.
 *
 * @param actions its row of the lowered plan, each action once
 * @param peakActivations the most activations (microbatch x stage) it may hold at a time
 * @param local the receives of what a stage of this rank itself hands over: no message brings it
 */
public record RankRow(List<Action> actions, int peakActivations, Set<Action> local) {
    public RankRow {
        actions = List.copyOf(actions);
        local = FixedOrder.copyOf(local);
    }

    /** A row whose receives are all of other ranks. */
    public RankRow(List<Action> actions, int peakActivations) {
        this(actions, peakActivations, Set.of());
    }
}
