package dev.troupe.actor;

import dev.troupe.protocol.Incarnation;
import dev.troupe.rank.NodeContext;
import dev.troupe.rank.RankResources;
import java.util.stream.Collectors;

/**
 * One incarnation of a rank on a node, with the thread of its stages.
 *
 * @param term
 *            the term of the coordinator that it obeys
 */
record HostedRank(RankResources resources, StageThread thread, int term) {
    private static final int STACK_SHOWN = 12;

    /** Opens the engine of a rank that starts with the weights after {@code stepsDone} steps. */
    static HostedRank open(Incarnation incarnation, int term, long stepsDone, NodeContext node) {
        return new HostedRank(new RankResources(incarnation, stepsDone, node), new StageThread(incarnation), term);
    }

    int rank() {
        return resources.rank();
    }

    Incarnation incarnation() {
        return resources.incarnation();
    }

    /** Ends this incarnation: whatever it still does has no effect. {@link RankResources#closeIfEnded} frees its memory. */
    void retire() {
        resources.letGo();
        thread.retire();
    }

    /** The innermost calls of the stages' thread in a line. */
    String whereItStands() {
        return thread.stack().stream().limit(STACK_SHOWN).map(Object::toString).collect(Collectors.joining(" < "));
    }
}
