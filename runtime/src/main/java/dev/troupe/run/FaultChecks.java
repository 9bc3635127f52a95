package dev.troupe.run;

import dev.troupe.config.fault.FaultPoint;
import dev.troupe.config.fault.FaultSpec;
import dev.troupe.config.fault.FaultKind.Reach;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/** Holds the faults of a run against its plan: one that could never strike is refused before anything starts. */
final class FaultChecks {
    private final TrainingPlan plan;
    private final int steps;
    private final boolean hasNodes;

    /**
     * @param steps
     *            of the run, counted from its first
     * @param hasNodes
     *            whether the run has processes beside this one
     */
    FaultChecks(TrainingPlan plan, int steps, boolean hasNodes) {
        this.plan = plan;
        this.steps = steps;
        this.hasNodes = hasNodes;
    }

    /**
     * Checks all faults of a run.
     *
     * @throws RequestException
     *             with a sentence for each that cannot strike
     */
    void require(List<FaultSpec> faults) {
        List<String> wrong = faults.stream().flatMap(fault -> refusal(fault).stream()).toList();
        if (!wrong.isEmpty()) {
            throw new RequestException(String.join("\n", wrong));
        }
    }

    private Optional<String> refusal(FaultSpec fault) {
        Plan actions = plan.training().plan();
        if (fault.kind().reach() == Reach.PROCESS && !hasNodes) {
            return refusal(fault, "strikes a process of a cluster, but this run has one process alone: name nodes"
                    + " (cluster.nodes) and start it with launch or chaos");
        }
        return beyond(fault, "stage", fault.stage(), actions.stageCount())
                .or(() -> beyond(fault, "rank", fault.rank(), plan.rankCount()))
                .or(() -> beyond(fault, "microbatch", fault.microbatch(), actions.microbatchCount()))
                .or(() -> fault.step().isPresent() && fault.step().getAsLong() >= steps
                        ? refusal(fault, "is for step " + fault.step().getAsLong() + ", but the run has the steps 0 to "
                                + (steps - 1))
                        : Optional.empty())
                .or(() -> elsewhere(fault)).or(() -> absent(fault));
    }

    private static Optional<String> refusal(FaultSpec fault, String why) {
        return Optional.of("the fault \"" + fault + "\" " + why);
    }

    private static Optional<String> beyond(FaultSpec fault, String what, OptionalInt number, int count) {
        return number.isPresent() && number.getAsInt() >= count
                ? refusal(fault, "is for " + what + " " + number.getAsInt() + ", but the run has " + count
                        + ", numbered from 0")
                : Optional.empty();
    }

    private Optional<String> elsewhere(FaultSpec fault) {
        return fault.rank().isPresent() && fault.stage().isPresent()
                && !plan.stagesOf(fault.rank().getAsInt()).contains(fault.stage().getAsInt())
                        ? refusal(fault, "is for stage " + fault.stage().getAsInt() + " on rank "
                                + fault.rank().getAsInt() + ", which has the stages "
                                + plan.stagesOf(fault.rank().getAsInt()))
                        : Optional.empty();
    }

    /** A plan has a backward in one piece, or in two, or both. */
    private Optional<String> absent(FaultSpec fault) {
        Optional<Kind> wanted = fault.at().flatMap(FaultChecks::kind);
        if (wanted.isEmpty() || plan.training().plan().rows().stream().flatMap(List::stream)
                .anyMatch(action -> action.kind() == wanted.get())) {
            return Optional.empty();
        }
        return refusal(fault, "is for " + fault.at().get().word() + ", but the plan has only "
                + Arrays.stream(FaultPoint.values())
                        .filter(point -> kind(point).isPresent() && plan.training().plan().rows().stream()
                                .flatMap(List::stream).anyMatch(action -> action.kind() == kind(point).get()))
                        .map(FaultPoint::word).collect(Collectors.joining(", ")));
    }

    private static Optional<Kind> kind(FaultPoint point) {
        return switch (point) {
            case FORWARD -> Optional.of(Kind.FORWARD);
            case BACKWARD -> Optional.of(Kind.FULL_BACKWARD);
            case BACKWARD_INPUT -> Optional.of(Kind.BACKWARD_INPUT);
            case BACKWARD_WEIGHT -> Optional.of(Kind.BACKWARD_WEIGHT);
            case SEND, RECEIVE, REDUCE, OPTIMIZER, COMMIT, CHECKPOINT -> Optional.empty();
        };
    }
}
