package dev.troupe.protocol.rank;

import dev.troupe.protocol.FixedOrder;
import dev.troupe.schedule.Action;
import java.util.List;
import java.util.Set;

/**
 * The certified work of one rank in a pass.
 *
 * @param actions its row of the lowered plan, each action once
 * @param peakActivations the most activations (microbatch x stage) that the rank may hold at a time
 * @param local the receives from another stage of this rank, which need no message
 */
public record RankRow(List<Action> actions, int peakActivations, Set<Action> local) {
    public RankRow {
        actions = List.copyOf(actions);
        local = FixedOrder.copyOf(local);
    }

    /** Creates a row without local receives. */
    public RankRow(List<Action> actions, int peakActivations) {
        this(actions, peakActivations, Set.of());
    }
}
