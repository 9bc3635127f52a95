package dev.troupe.schedule.certificate;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import java.util.List;

/**
 * The proof of plans, or their refusal: a {@link PlanException} with one sentence about what is wrong and where, and the
 * whole grid with the place marked. Pure: no tensor is computed, and no time passes.
 */
public final class PlanValidator {
    private PlanValidator() {
    }

    /**
     * Checks the computing of a plan: every action occurs once, on the right rank, in an order that can be completed.
     * Messages are ignored.
     *
     * @throws PlanException if the check fails
     */
    public static void check(Plan plan, Purpose purpose) {
        PlanIndex index = PlanIndex.of(plan);
        new ComputeCheck(index, purpose).run();
        new VersionCheck(index).run();
        DryRun.ofComputing(index).run();
    }

    /**
     * Checks a plan with its messages, and that it comes to its end when a sender may have only so many messages
     * unconsumed on an edge. Sends beyond that wait in order and do not hold up their rank; a receive holds it up until
     * its message has landed. Actions of a whole step come after what they need: an update after the gradients and
     * the norms of all stages, a norm after the sums of its stage. If steps overlap, every version of the weights that
     * an action reads exists, and belongs to the microbatch and to the step.
     *
     * @param lowered the plan with its sends and receives and whatever else of a step is in it, see
     *        {@link dev.troupe.schedule.Plan} and the passes that lower it
     * @param creditsPerEdge messages that may be unconsumed on an edge, 1 or more
     * @throws PlanException if the check fails
     */
    public static Certificate certify(Plan lowered, Purpose purpose, int creditsPerEdge) {
        if (creditsPerEdge < 1) {
            throw new PlanException("A plan needs 1 credit or more on each edge, but has " + creditsPerEdge + ".");
        }
        PlanIndex index = PlanIndex.of(lowered);
        new ComputeCheck(index, purpose).run();
        new MessageCheck(index).run();
        new StepCheck(index, purpose).run();
        new VersionCheck(index).run();
        DryRun.withCredits(index, creditsPerEdge).run();
        InFlight inFlight = new InFlight(index);
        Peaks peaks = new Peaks(index, purpose);
        return new Certificate(lowered, purpose, creditsPerEdge, peaks.all(), peaks.replays(), inFlight.messages(),
                inFlight.peaks(), WeightVersions.of(lowered));
    }

    /**
     * Checks a plan as the other {@code certify} does, with the room of its ranks for activations and replays.
     *
     * @param declaredPeaks for each rank, how many activations it may hold at most
     * @param declaredReplays for each rank, how many forwards it may have replayed at most ahead of their backwards
     * @throws PlanException if a rank would hold more, too
     */
    public static Certificate certify(Plan lowered, Purpose purpose, int creditsPerEdge, List<Integer> declaredPeaks,
            List<Integer> declaredReplays) {
        Certificate certificate = certify(lowered, purpose, creditsPerEdge);
        new Peaks(PlanIndex.of(lowered), purpose).requireAtMost(declaredPeaks, declaredReplays);
        return certificate;
    }
}
