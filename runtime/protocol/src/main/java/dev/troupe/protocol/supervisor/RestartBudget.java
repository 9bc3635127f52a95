package dev.troupe.protocol.supervisor;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * The most restarts in a row of each node's process, since a process that ends right after its start would restart for ever.
 * The count restarts after a process has run for a minute. One thread at a time.
 */
class RestartBudget {
    private static final Duration A_WHILE = Duration.ofMinutes(1);

    private final int mostInARow;
    private final Map<String, Integer> inARow = new HashMap<>();

    RestartBudget(int mostInARow) {
        this.mostInARow = mostInARow;
    }

    /** Returns whether the process of a node that ended after {@code lived} is to restart, and counts the restart. */
    boolean next(String node, Duration lived) {
        if (lived.compareTo(A_WHILE) >= 0) {
            inARow.remove(node);
        }
        return inARow.merge(node, 1, Integer::sum) <= mostInARow;
    }
}
