package dev.troupe.plan;

import dev.troupe.config.fault.FaultKind.Reach;
import dev.troupe.config.fault.FaultMessage;
import dev.troupe.config.fault.FaultPoint;
import dev.troupe.config.fault.FaultSpec;
import dev.troupe.config.problem.Word;
import dev.troupe.protocol.Pass;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Plan;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;

/** The checks of a run's faults against its plan: a fault that could never strike is refused before anything starts. */
public final class FaultChecks {
    private static final Set<FaultPoint> ONCE_IN_A_STEP = Arrays.stream(FaultPoint.values())
            .filter(point -> !point.hasMicrobatch()).collect(Collectors.toUnmodifiableSet());

    private static final Set<Reach> NOT_WITHIN_A_RANK = EnumSet.of(Reach.MESSAGE, Reach.BITS, Reach.CREDIT);

    private final TrainingPlan plan;
    private final long firstStep;
    private final int steps;
    private final int checkpointEvery;
    private final boolean recovers;
    private final boolean hasNodes;

    /**
     * @param firstStep the first step of this run: a fault of an earlier step has struck or will not
     * @param steps of the run, counted from its first
     * @param checkpointEvery steps between two checkpoints; 0: only one at the end
     * @param recovers whether ranks keep snapshots
     * @param hasNodes whether the run has other processes
     */
    public FaultChecks(TrainingPlan plan, long firstStep, int steps, int checkpointEvery, boolean recovers,
            boolean hasNodes) {
        this.plan = plan;
        this.firstStep = firstStep;
        this.steps = steps;
        this.checkpointEvery = checkpointEvery;
        this.recovers = recovers;
        this.hasNodes = hasNodes;
    }

    /** @throws UsageException with a sentence for each fault that cannot strike */
    public void require(List<FaultSpec> faults) {
        List<String> wrong = faults.stream().flatMap(fault -> refusal(fault).stream()).toList();
        if (!wrong.isEmpty()) {
            throw new UsageException(String.join("\n", wrong));
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
                .or(() -> beyond(fault, "microbatch", fault.microbatch(), actions.microbatchesPerStep()))
                .or(() -> fault.step().isPresent() && fault.step().getAsLong() >= steps
                        ? refusal(fault, "is for step " + fault.step().getAsLong() + ", but the run has the steps 0 to "
                                + (steps - 1))
                        : Optional.empty())
                .or(() -> elsewhere(fault)).or(() -> unread(fault)).or(() -> between(fault)).or(() -> unkept(fault))
                .or(() -> midst(fault))
                .or(() -> absent(fault));
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

    /**
     * Refuses late data on ranks that read none. Only the first and the last stage read rows, unless documents are
     * separated, and only the first rank of a tensor group.
     */
    private Optional<String> unread(FaultSpec fault) {
        int last = plan.training().plan().stageCount() - 1;
        boolean isOfReader = fault.rank().isEmpty()
                || plan.ranks().coordinates(fault.rank().getAsInt()).tensor() == 0
                        && plan.stagesOf(fault.rank().getAsInt()).stream().anyMatch(this::readsRows);
        return fault.kind().reach() != Reach.DATA
                || isOfReader && (fault.stage().isEmpty() || readsRows(fault.stage().getAsInt()))
                        ? Optional.empty()
                        : refusal(fault, "is for the rows of a microbatch, which "
                                + (plan.stageSettings().separatesDocuments()
                                        ? "every stage reads"
                                        : "the stages 0 and " + last + " read")
                                + ", by the first rank of each tensor group");
    }

    private boolean readsRows(int stage) {
        return stage == 0 || stage == plan.training().plan().stageCount() - 1
                || plan.stageSettings().separatesDocuments();
    }

    /** Refuses faults of checkpoints that are not written. The step of a checkpoint is the last one in it. */
    private Optional<String> between(FaultSpec fault) {
        boolean isOfCheckpoints = fault.kind().points().equals(Set.of(FaultPoint.CHECKPOINT))
                || fault.at().equals(Optional.of(FaultPoint.CHECKPOINT));
        long stepsDone = fault.step().orElse(steps - 1) + 1;
        return !isOfCheckpoints || stepsDone <= firstStep || stepsDone == steps
                || checkpointEvery > 0 && stepsDone % checkpointEvery == 0
                        ? Optional.empty()
                        : refusal(fault, "is for the checkpoint of the steps up to " + (stepsDone - 1) + ", but "
                                + (checkpointEvery > 0
                                        ? "those written hold the steps up to " + (checkpointEvery - 1) + ", "
                                                + (2 * checkpointEvery - 1) + " and so on, and up to " + (steps - 1)
                                        : "the only one is written at the end, up to " + (steps - 1))
                                + " (training.checkpoint-every = " + checkpointEvery + ")");
    }

    private Optional<String> unkept(FaultSpec fault) {
        return recovers || !fault.kind().points().equals(Set.of(FaultPoint.COMMIT))
                && !fault.at().equals(Optional.of(FaultPoint.COMMIT))
                        ? Optional.empty()
                        : refusal(fault, "is for the keeping of snapshots, but this run keeps none"
                                + " (recovery.enabled = false)");
    }

    /** Refuses faults of snapshots that are not taken: if steps overlap, snapshots are taken at the end of a pass. */
    private Optional<String> midst(FaultSpec fault) {
        long stepsDone = fault.step().orElse(plan.stepsPerPass() - 1) + 1;
        boolean isOfSnapshots = fault.kind().points().equals(Set.of(FaultPoint.COMMIT))
                || fault.at().equals(Optional.of(FaultPoint.COMMIT));
        return isOfSnapshots && (stepsDone - firstStep) % plan.stepsPerPass() != 0
                ? refusal(fault, "is for the keeping of snapshots after " + stepsDone + " steps, but this run keeps one"
                        + " after every " + plan.stepsPerPass() + " steps (parallel.flush-every)")
                : Optional.empty();
    }

    /**
     * Refuses faults of actions that are not in the plan: not every backward is split, and not every stage sends to another
     * rank.
     */
    private Optional<String> absent(FaultSpec fault) {
        Set<FaultPoint> points = EnumSet.noneOf(FaultPoint.class);
        Set<FaultMessage> sent = EnumSet.noneOf(FaultMessage.class);
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            for (Action action : plan.row(Pass.Kind.TRAINING, rank).actions()) {
                if (!isMeant(fault, rank, action)) {
                    continue;
                }
                if (action.kind().isPerMicrobatch()) {
                    FaultPoint point = FaultWords.pointOf(action.kind()).orElseThrow();
                    boolean isOther = action.kind().isMessage() && fault.message().isPresent()
                            && fault.message().get() != FaultWords.contentOf(action.kind());
                    if (!isOther && fault.strikesAt(point)) {
                        return Optional.empty();
                    }
                    points.add(point);
                }
                if (action.kind().isSend() && (action.kind().isPerMicrobatch() || isOfMessages(fault))) {
                    sent.add(FaultWords.contentOf(action.kind()));
                }
            }
        }
        if (fault.microbatch().isEmpty() && ONCE_IN_A_STEP.stream().anyMatch(fault::strikesAt)
                || isOfMessages(fault) && fault.message().map(sent::contains).orElse(!sent.isEmpty())) {
            return Optional.empty();
        }
        return refusal(fault, "is for " + fault.at().map(Word::word).orElseGet(() -> words(fault.kind().points()))
                + fault.message().map(message -> " of a message=" + message.word()).orElse("")
                + ", but there the plan has only " + words(points)
                + (sent.isEmpty() ? "" : ", and sends " + words(sent)));
    }

    /**
     * Whether a fault names this action. A message that is sent once in a step is the first of its edge, and only faults of
     * messages apply to it.
     */
    private boolean isMeant(FaultSpec fault, int rank, Action action) {
        int microbatch = Math.max(0, plan.rows().microbatchInStep(Pass.Kind.TRAINING, action));
        return isOf(fault.rank(), rank) && isOf(fault.stage(), action.stage())
                && isOf(fault.microbatch(), microbatch)
                && !(NOT_WITHIN_A_RANK.contains(fault.kind().reach()) && isHandedOver(action));
    }

    /** Whether a message is handed over within a rank, without a transfer. */
    private boolean isHandedOver(Action action) {
        return action.kind().isMessage() && !plan.needsMessage(action);
    }

    private static boolean isOfMessages(FaultSpec fault) {
        return fault.kind().reach() == Reach.MESSAGE;
    }

    private static boolean isOf(OptionalInt wanted, int number) {
        return wanted.isEmpty() || wanted.getAsInt() == number;
    }

    private static String words(Set<? extends Word> words) {
        return words.stream().map(Word::word).collect(Collectors.joining(", "));
    }
}
