package dev.troupe.protocol.rank;

import dev.troupe.protocol.Pass;
import dev.troupe.schedule.Action;

/** What happens to a rank. */
public sealed interface RankEvent {
    /** The coordinator starts a pass. */
    record PassStarted(Pass pass) implements RankEvent {
    }

    /** The tensor of a receive of the pass with this number is in this rank's memory. */
    record Landed(Action receive, long pass) implements RankEvent {
    }

    /** A stage has done an action. */
    record ActionDone(Action action) implements RankEvent {
    }

    /** The coordinator knows the global norm: the optimizer may step. */
    record UpdateRequested() implements RankEvent {
    }

    /** The transport has begun an epoch: what was on its way to this rank does not come any more. */
    record EpochEntered(int epoch) implements RankEvent {
    }
}
