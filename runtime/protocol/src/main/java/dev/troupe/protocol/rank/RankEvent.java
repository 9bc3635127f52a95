package dev.troupe.protocol.rank;

import dev.troupe.protocol.Pass;
import dev.troupe.schedule.Action;

/** An event of a rank. */
public sealed interface RankEvent {
    /**
     * The coordinator starts a pass.
     *
     * @param decidedSteps the number of steps of the row, from the first, with decided updates
     */
    record PassStarted(Pass pass, int decidedSteps) implements RankEvent {
        /** Creates the start of a pass without decided updates. */
        public PassStarted(Pass pass) {
            this(pass, 0);
        }
    }

    /** The tensor of a receive has arrived in this rank's memory. */
    record Landed(Action receive, long pass) implements RankEvent {
    }

    /** A stage has done an action. */
    record ActionDone(Action action) implements RankEvent {
    }

    /** The coordinator has decided a step from its global norm, so the optimizer may step. */
    record UpdateRequested(int stepInRow) implements RankEvent {
        /** Creates the request for the first step of a row. */
        public UpdateRequested() {
            this(0);
        }
    }

    /** The transport has begun an epoch, so messages in flight to this rank are lost. */
    record EpochEntered(int epoch) implements RankEvent {
    }
}
