package dev.troupe.schedule.simulator;

import dev.troupe.schedule.PlanRows;
import dev.troupe.schedule.StageGraph;
import dev.troupe.schedule.StageGraph.Flow;

/**
 * The inboxes of all stages, by number. A stage has one for activations, one for gradients, and one for gradients of a
 * shared parameter. If stages have replicas, each is one for each pair of sender and receiver, since a message waits only
 * for messages of its own edge.
 */
final class Inboxes {
    private static final int DIRECTIONS = 3;
    private static final int GRADIENTS = 1;
    private static final int SHARED = 2;

    private final PlanRows rows;
    /** By stage and direction, the number of the first inbox. */
    private final int[] first;
    /** By stage and direction, the stage that sends; {@link StageGraph#NONE} for none. */
    private final int[] senders;
    private final Inbox[] inboxes;
    private final int[] receivers;

    /** @param creditsPerEdge messages that may be unconsumed on an edge; 0 for any number */
    Inboxes(PlanRows rows, Costs costs, int creditsPerEdge) {
        StageGraph graph = rows.graph();
        this.rows = rows;
        this.first = new int[DIRECTIONS * rows.stageCount() + 1];
        this.senders = new int[DIRECTIONS * rows.stageCount()];
        for (int stage = 0; stage < rows.stageCount(); stage++) {
            senders[DIRECTIONS * stage] = graph.source(Flow.ACTIVATIONS, stage);
            senders[DIRECTIONS * stage + GRADIENTS] = graph.target(Flow.ACTIVATIONS, stage);
            senders[DIRECTIONS * stage + SHARED] = graph.source(Flow.SHARED, stage);
            for (int at = DIRECTIONS * stage; at < DIRECTIONS * (stage + 1); at++) {
                first[at + 1] = first[at] + rows.replicas(stage) * replicasOfSender(at);
            }
        }
        this.inboxes = new Inbox[first[first.length - 1]];
        this.receivers = new int[inboxes.length];
        for (int at = 0; at < senders.length; at++) {
            for (int number = first[at]; number < first[at + 1]; number++) {
                make(number, at, costs, creditsPerEdge);
            }
        }
    }

    private int replicasOfSender(int at) {
        return senders[at] == StageGraph.NONE ? 1 : rows.replicas(senders[at]);
    }

    private void make(int number, int at, Costs costs, int creditsPerEdge) {
        int stage = at / DIRECTIONS; // rounded down
        int pair = number - first[at];
        int to = rows.rankOf(stage, pair / replicasOfSender(at)); // rounded down
        int from = senders[at] == StageGraph.NONE ? to : rows.rankOf(senders[at], pair % replicasOfSender(at));
        receivers[number] = to;
        if (from == to) {
            inboxes[number] = new Inbox(0, 0, 0); // handed over within the rank, if at all
            return;
        }
        Hop hop = costs.hops().between(from, to);
        long bytes = switch (at % DIRECTIONS) {
            case GRADIENTS -> costs.stages().get(stage).outputBytes();
            case SHARED -> costs.sharedBytes();
            default -> costs.stages().get(senders[at]).outputBytes();
        };
        inboxes[number] = new Inbox(hop.occupancyNanos(bytes), hop.latencyNanos(), creditsPerEdge);
    }

    int activations(int stage, int microbatch) {
        return number(DIRECTIONS * stage, microbatch);
    }

    int gradients(int stage, int microbatch) {
        return number(DIRECTIONS * stage + GRADIENTS, microbatch);
    }

    private int number(int at, int microbatch) {
        if (first[at + 1] - first[at] == 1) {
            return first[at];
        }
        int ofSender = replicasOfSender(at);
        int ofStage = (first[at + 1] - first[at]) / ofSender; // exact
        return first[at] + microbatch % ofStage * ofSender + microbatch % ofSender;
    }

    /** Returns the number of a stage's inbox for the gradient of a parameter in common. */
    int shared(int stage) {
        return first[DIRECTIONS * stage + SHARED];
    }

    Inbox of(int number) {
        return inboxes[number];
    }

    /** Returns the rank that takes the messages of an inbox. */
    int receiver(int number) {
        return receivers[number];
    }
}
