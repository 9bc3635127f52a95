package dev.troupe.run.actor;

import dev.troupe.protocol.Incarnation;
import dev.troupe.rank.NodeContext;
import dev.troupe.rank.RankResources;
import java.util.stream.Collectors;

/** One incarnation of a rank on a node, with the thread of its stages. */
record HostedRank(RankResources resources, StageThread thread) {
    private static final int STACK_SHOWN = 12;

    /** Opens the engine of a rank that starts with the weights after {@code stepsDone} steps. */
    static HostedRank open(Incarnation incarnation, long stepsDone, NodeContext node) {
        return new HostedRank(new RankResources(incarnation, stepsDone, node), new StageThread(incarnation));
    }

    int rank() {
        return resources.rank();
    }

    Incarnation incarnation() {
        return resources.incarnation();
    }

    /** Ends this incarnation: later actions of it have no effect. {@link RankResources#closeIfEnded} frees its memory. */
    void retire() {
        resources.letGo();
        thread.retire();
    }

    /** Returns the innermost calls of the stages' thread in one line. */
    String innermostCalls() {
        return thread.stack().stream().limit(STACK_SHOWN).map(Object::toString).collect(Collectors.joining(" < "));
    }
}
