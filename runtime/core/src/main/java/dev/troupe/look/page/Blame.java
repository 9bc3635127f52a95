package dev.troupe.look.page;

import dev.troupe.look.output.StepHead;
import java.util.List;
import java.util.Locale;

/** The largest cost of a step beyond its plan: a cause, and the rank at its root. */
final class Blame {
    /** The smallest share of a step that is reported. */
    private static final double WORTH = 0.1;

    private Blame() {
    }

    /** Returns the sentence on a step; empty if no cost is large enough. */
    static List<String> of(StepHead step) {
        double whole = (double) step.nanos() * step.ranks();
        return step.roots().stream().limit(1).filter(root -> root.nanos() > WORTH * whole)
                .map(root -> String.format(Locale.ROOT,
                        "In step %d the ranks waited for %.0f %% of their time because %s.", step.number(),
                        100 * root.nanos() / whole, because(root)))
                .toList();
    }

    private static String because(StepHead.Root root) {
        String rank = "rank " + root.rank();
        return switch (root.cause()) {
            case "producer" -> rank + " computed for longer than it usually does";
            case "wire" -> "a message of " + rank + " was on its way for longer than usual";
            case "credit" -> "a message of " + rank + " had no credit";
            case "control" -> rank + " began late, though it had all it needed";
            case "group" -> rank + " was late in its group";
            case "pause" -> "the process of " + rank + " paused";
            case "cpu" -> rank + " had no core";
            case "state" -> "a checkpoint was written";
            case "data" -> rank + " had not read its rows";
            case "commit" -> "the coordinator decided late";
            case "recovery" -> rank + " had been restarted";
            default -> "of something unknown at " + rank;
        };
    }
}
