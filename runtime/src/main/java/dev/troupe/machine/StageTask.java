package dev.troupe.machine;

import dev.troupe.schedule.Action;

/** What a rank has one of its stages do. A rank does one task at a time, on its thread. */
public sealed interface StageTask {
    /** The stage that does it. */
    int stage();

    /** Computes an action of the plan: F, B, I or W. */
    record Compute(Action action) implements StageTask {
        @Override
        public int stage() {
            return action.stage();
        }

        @Override
        public String toString() {
            return action.toString();
        }
    }

    /** Sends this end's gradient of the tied table to the other end, and grants a buffer for the other's. */
    record ExchangeTiedGradient(int stage) implements StageTask {
        @Override
        public String toString() {
            return "the exchange of the tied gradient of stage " + stage;
        }
    }

    /** Adds the other end's gradient of the tied table to this one's. */
    record AddTiedGradient(int stage) implements StageTask {
        @Override
        public String toString() {
            return "the sum of the tied gradients of stage " + stage;
        }
    }

    /** Sums the squares of the gradients, layer by layer. */
    record MeasureGradients(int stage) implements StageTask {
        @Override
        public String toString() {
            return "the gradient norm of stage " + stage;
        }
    }

    /** Steps the optimizer and clears the gradients. */
    record Update(int stage) implements StageTask {
        @Override
        public String toString() {
            return "the weight update of stage " + stage;
        }
    }
}
