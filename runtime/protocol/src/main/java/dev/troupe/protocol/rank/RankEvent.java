package dev.troupe.protocol.rank;

import dev.troupe.protocol.Pass;
import dev.troupe.schedule.Action;

/** An event of a rank. */
public sealed interface RankEvent {
    /**
     * The coordinator starts a pass.
     *
     * @param decidedSteps the number of the row's steps whose updates are decided, from the first one
     */
    record PassStarted(Pass pass, int decidedSteps) implements RankEvent {
        /** A pass of which nothing is decided. */
        public PassStarted(Pass pass) {
            this(pass, 0);
        }
    }

    /** The tensor of a receive of the pass with this number is in this rank's memory. */
    record Landed(Action receive, long pass) implements RankEvent {
    }

    /** A stage has done an action. */
    record ActionDone(Action action) implements RankEvent {
    }

    /**
     * The coordinator knows the global norm of a step: the optimizer may step.
     *
     * @param stepInRow the step among those of the row
     */
    record UpdateRequested(int stepInRow) implements RankEvent {
        /** Of the first step of a row. */
        public UpdateRequested() {
            this(0);
        }
    }

    /** The transport has begun an epoch: what was on its way to this rank does not come any more. */
    record EpochEntered(int epoch) implements RankEvent {
    }
}
