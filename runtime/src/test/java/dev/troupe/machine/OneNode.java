package dev.troupe.machine;

import java.util.Collections;

/** Runs whose ranks all live on one node, for which nobody keeps copies. */
final class OneNode {
    private OneNode() {
    }

    static CoordinatorMachine coordinator(RunOrder order) {
        return new CoordinatorMachine(order,
                new Hosting(Collections.nCopies(order.rankCount(), ""), Hosting.Buddies.NONE, order.firstStep()));
    }
}
