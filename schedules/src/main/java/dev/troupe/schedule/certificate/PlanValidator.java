package dev.troupe.schedule.certificate;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import java.util.List;

/**
 * The validator of plans, which proves a plan or refuses it by a {@link PlanException}: one sentence about the error and its
 * place, and the grid with the place marked. Pure: no tensor is computed, and no time passes.
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
     * Checks a plan with its messages, and that it reaches its end with a number of credits. Sends without a credit wait in
     * order and do not block their rank; a receive blocks it until its message has landed. Actions of a whole step come
     * after what they need: an update after the gradients and the norms of all stages, a norm after the sums of its stage.
     * If steps overlap, every version of the weights that an action reads exists, and belongs to the microbatch and to the
     * step.
     *
     * @param lowered the plan with its sends, receives and other work of the step, see {@link dev.troupe.schedule.Plan} and
     *     the passes that lower it
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
     * Checks a plan as the other {@code certify} does, and the memory of its ranks for activations and replays.
     * @param declaredPeaks for each rank, the most activations that it may hold
     * @param declaredReplays for each rank, the most forwards that it may have replayed ahead of their backwards
     * @throws PlanException also if a rank would hold more
     */
    public static Certificate certify(Plan lowered, Purpose purpose, int creditsPerEdge, List<Integer> declaredPeaks,
            List<Integer> declaredReplays) {
        Certificate certificate = certify(lowered, purpose, creditsPerEdge);
        new Peaks(PlanIndex.of(lowered), purpose).requireAtMost(declaredPeaks, declaredReplays);
        return certificate;
    }
}
