package dev.troupe.protocol.watch;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A notice for the user about the speed or the loss of a run.
 *
 * @param stepsDone the committed steps at the time of the notice
 * @param node the node concerned; empty text for none
 * @param times the factor by which a time or a loss is higher
 */
public record Notice(Kind kind, long stepsDone, int epoch, String node, List<Integer> ranks, List<Integer> stages,
        double times, String sentence) {
    public enum Kind {
        /** A stage has become much slower than it was, or is much slower than others. */
        STRAGGLER,
        /** A stage that is already named a straggler has become much slower or faster. */
        STRAGGLER_CHANGED,
        /** A stage is no straggler any more. */
        STRAGGLER_ENDED,
        /** Most stages compute much longer than at their best, so no single stage is the cause. */
        ALL_SLOWER,
        /** Most stages compute again about as fast as at their best. */
        ALL_SLOWER_ENDED,
        /** The machine has far more work than the run's, so a straggler that is named next may be slow by chance. */
        OVERLOADED,
        /** A node without ranks is lost. */
        STANDBY_LOST,
        /** A node has joined after one was lost. */
        STANDBY_BACK,
        /** The loss of a node changed the time of a step. */
        PACE,
        /** The time of a step is again the time before a node was lost. */
        PACE_ENDED,
        /** The loss of a step is far above the steps before it. */
        LOSS_SPIKE;

        /** Returns the kind's name in files. */
        public String code() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        /** Returns the kind with a name; empty if there is none. */
        public static Optional<Kind> of(String code) {
            return Arrays.stream(values()).filter(kind -> kind.code().equals(code)).findFirst();
        }

        /** Returns whether the notice holds until a notice of its end. */
        public boolean isLasting() {
            return switch (this) {
                case STRAGGLER, STRAGGLER_CHANGED, ALL_SLOWER, PACE -> true;
                case STRAGGLER_ENDED, ALL_SLOWER_ENDED, OVERLOADED, STANDBY_LOST, STANDBY_BACK, PACE_ENDED,
                        LOSS_SPIKE ->
                    false;
            };
        }
    }

    public Notice {
        ranks = List.copyOf(ranks);
        stages = List.copyOf(stages);
    }
}
