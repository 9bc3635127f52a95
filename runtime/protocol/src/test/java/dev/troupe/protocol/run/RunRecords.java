package dev.troupe.protocol.run;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The facts that outlive the coordinators of a run: the records and checkpoints in its directory, and its progress. */
final class RunRecords {
    // By steps, in the order of their completion.
    final List<Long> checkpoints = new ArrayList<>();
    final Set<Long> doneWithout = new TreeSet<>();
    final List<Long> validation = new ArrayList<>();
    long committed;
    boolean isDiskFull;
    boolean hasBegun;
    boolean wasStopped;
    boolean isOver;
}
