package dev.troupe.protocol.supervisor;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * The restart budget of each node's process: a number of restarts in a row, since a process that ends as soon as it
 * starts would do so for ever. The count begins anew if a process has run for a while. One thread at a time.
 */
class RestartBudget {
    private static final Duration A_WHILE = Duration.ofMinutes(1);

    private final int mostInARow;
    private final Map<String, Integer> inARow = new HashMap<>();

    RestartBudget(int mostInARow) {
        this.mostInARow = mostInARow;
    }

    /**
     * Returns whether the process of a node that has ended after {@code lived} is to start again, and counts the restart.
     */
    boolean next(String node, Duration lived) {
        if (lived.compareTo(A_WHILE) >= 0) {
            inARow.remove(node);
        }
        return inARow.merge(node, 1, Integer::sum) <= mostInARow;
    }
}
