package dev.troupe.schedule.certificate;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;

/**
 * Proves plans, or refuses them. A refusal is a {@link PlanException} that says in one sentence what is wrong and
 * where, with the whole grid under it and the place marked. Pure and quick: nothing is computed, time plays no part.
 */
public final class PlanValidator {
    private PlanValidator() {
    }

    /**
     * Checks the computing of a plan: every action is there once, on the right rank, in an order that can come to an
     * end. Messages are not looked at.
     *
     * @throws PlanException if it is not so
     */
    public static void check(Plan plan, Purpose purpose) {
        PlanIndex index = PlanIndex.of(plan);
        new ComputeCheck(index, purpose).run();
        DryRun.ofComputing(index).run();
    }

    /**
     * Checks a plan with its messages, and that it comes to its end when a sender may have only so many messages
     * unconsumed on an edge. Sends beyond that wait in order and do not hold up their rank; a receive holds it up until
     * its message has landed.
     *
     * @param lowered the plan with its sends and receives, see {@link dev.troupe.schedule.Lowering}
     * @param creditsPerEdge messages that may be unconsumed on an edge, 1 or more
     * @throws PlanException if it is not so
     */
    public static Certificate certify(Plan lowered, Purpose purpose, int creditsPerEdge) {
        if (creditsPerEdge < 1) {
            throw new PlanException("A plan needs 1 credit or more on each edge, but has " + creditsPerEdge + ".");
        }
        PlanIndex index = PlanIndex.of(lowered);
        new ComputeCheck(index, purpose).run();
        new MessageCheck(index).run();
        DryRun.withCredits(index, creditsPerEdge).run();
        List<Integer> peaks = lowered.rows().stream().map(row -> peakActivations(row, purpose)).toList();
        return new Certificate(lowered, purpose, creditsPerEdge, peaks, messagesPerEdge(lowered));
    }

    private static int peakActivations(List<Action> row, Purpose purpose) {
        int live = 0;
        int peak = 0;
        for (Action action : row) {
            if (action.kind() == Kind.FORWARD) {
                live++;
                peak = Math.max(peak, live);
            }
            boolean frees = switch (purpose) {
                case TRAINING -> action.kind().freesActivation();
                case FORWARD_ONLY -> action.kind() == Kind.FORWARD;
            };
            live -= frees ? 1 : 0;
        }
        return peak;
    }

    private static SequencedMap<Edge, Integer> messagesPerEdge(Plan plan) {
        SequencedMap<Edge, Integer> messages = new LinkedHashMap<>();
        for (List<Action> row : plan.rows()) {
            for (Action action : row) {
                if (action.kind() == Kind.SEND_F || action.kind() == Kind.SEND_B) {
                    messages.merge(Edge.of(plan, action), 1, Integer::sum);
                }
            }
        }
        return messages;
    }
}
