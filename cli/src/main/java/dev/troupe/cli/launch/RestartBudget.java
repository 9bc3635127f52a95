package dev.troupe.cli.launch;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * How often the process of a node starts again: so often in a row, since what ends as soon as it starts would do so for
 * ever, and from the beginning where one was at work for a while. One thread at a time.
 */
final class RestartBudget {
    private static final Duration A_WHILE = Duration.ofMinutes(1);

    private final int mostInARow;
    private final Map<String, Integer> inARow = new HashMap<>();

    RestartBudget(int mostInARow) {
        this.mostInARow = mostInARow;
    }

    /** Whether the process of a node that has ended after so long is to start again, which counts. */
    boolean next(String node, Duration lived) {
        if (lived.compareTo(A_WHILE) >= 0) {
            inARow.remove(node);
        }
        return inARow.merge(node, 1, Integer::sum) <= mostInARow;
    }
}
