package dev.troupe.protocol.run;

import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.replica.ReplicaTable;
import java.util.Collections;

/** Runs with all ranks on one node and without copies. */
final class OneNode {
    private OneNode() {
    }

    static RunMachine coordinator(RunSettings settings) {
        return new RunMachine(settings,
                new ReplicaTable(Collections.nCopies(settings.rankCount(), ""), ReplicaTable.Buddies.NONE,
                        settings.firstStep()),
                1);
    }
}
