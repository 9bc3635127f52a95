package dev.troupe.machine;

import dev.troupe.schedule.Action;

/** What happens to a rank. */
public sealed interface RankEvent {
    /** The coordinator starts a pass. */
    record PassStarted(Pass pass) implements RankEvent {
    }

    /** The tensor of a receive (RECV_F or RECV_B) of the pass with this number stands in this rank's memory. */
    record Landed(Action receive, long pass) implements RankEvent {
    }

    /** A stage has done its task. */
    record TaskDone(StageTask task) implements RankEvent {
    }

    /** The other end's gradient of the tied table stands in this rank's memory. */
    record TiedGradientLanded(int stage) implements RankEvent {
    }

    /** The coordinator knows the global norm: the optimizer may step. */
    record UpdateRequested() implements RankEvent {
    }

    /** The transport has begun an epoch: what was on its way to this rank does not come any more. */
    record EpochEntered(int epoch) implements RankEvent {
    }
}
