package dev.troupe.machine;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The logic of one rank: it walks the rank's row of the plan, then exchanges tied gradients, measures the gradients,
 * reports, and updates when it is told to.
 *
 * <p>Actions are computed in the order of the row, one at a time. While one is computed, the next may be ordered already
 * if all it needs is there: the rank then goes from one to the other without asking. The sends that follow an action in the
 * row are ordered with it.
 *
 * <pre>
 *   IDLE --PassStarted--> WALKING --row done--> REDUCING --all summed--> MEASURING --> REPORTED --UpdateRequested-->
 *   UPDATING --> IDLE          (a validation pass goes from WALKING straight to IDLE)
 * </pre>
 *
 * <p>Thread rule: none; one caller at a time. An event that the state does not allow is an
 * {@link IllegalStateException}: the plan was certified, so it is a defect of the caller.
 */
public final class RankMachine {
    private enum Phase {
        IDLE, WALKING, REDUCING, MEASURING, REPORTED, UPDATING
    }

    /** The action that is computed and one behind it. More would gain nothing and say less about where a rank stands. */
    private static final int MOST_ORDERED = 2;

    private final int rank;
    private final Map<Pass.Kind, RankRow> rows;
    private final List<Integer> stages;
    private final List<Integer> tiedStages;

    private Phase phase = Phase.IDLE;
    private Pass pass;
    private RankRow row;
    // The first entry of the row that is neither behind nor ordered.
    private int position;
    // As it will be when all that is ordered is done.
    private int liveActivations;
    // In the order they are done in; the first is the one that is being done.
    private final Deque<StageTask> ordered = new ArrayDeque<>();
    private final Set<Action> landed = new HashSet<>();
    // The receives of this pass that are behind, in order: the same message is not used twice.
    private final Set<Action> received = new LinkedHashSet<>();
    // Of this pass, also when they are added.
    private final Set<Integer> tiedLanded = new TreeSet<>();
    private int stagesDone;

    /**
     * @param rank
     *            this rank, for messages
     * @param trainingRow
     *            its row of the lowered training plan
     * @param validationRow
     *            its row of the lowered forward-only plan
     * @param stages
     *            the stages it holds, ascending
     * @param tiedStages
     *            those of them that hold one end of a tied table whose other end is in another stage
     */
    public RankMachine(int rank, RankRow trainingRow, RankRow validationRow, List<Integer> stages,
            List<Integer> tiedStages) {
        this.rank = rank;
        this.rows = new EnumMap<>(Map.of(Pass.Kind.TRAINING, trainingRow, Pass.Kind.VALIDATION, validationRow));
        this.stages = List.copyOf(stages);
        this.tiedStages = List.copyOf(tiedStages);
    }

    /** Takes in one event and returns what is to be done, in order. */
    public List<RankCommand> on(RankEvent event) {
        List<RankCommand> commands = new ArrayList<>();
        switch (event) {
            case RankEvent.PassStarted(Pass started) -> start(started);
            case RankEvent.Landed(Action receive, long number) -> land(receive, number, commands);
            case RankEvent.TaskDone(StageTask task) -> taskDone(task);
            case RankEvent.TiedGradientLanded(int stage) -> landTied(stage);
            case RankEvent.UpdateRequested() -> requestUpdate();
            case RankEvent.EpochEntered(int epoch) -> enterEpoch(epoch, commands);
        }
        advance(commands);
        return commands;
    }

    private void start(Pass started) {
        require(phase == Phase.IDLE, "a new pass");
        pass = started;
        row = rows.get(started.kind());
        position = 0;
        liveActivations = 0;
        received.clear();
        tiedLanded.clear();
        enter(Phase.WALKING);
    }

    /**
     * A message may come before the pass it belongs to is started here, since its sender may have heard first. One that
     * comes again, or too late, is of no use.
     */
    private void land(Action receive, long number, List<RankCommand> commands) {
        boolean isLate = number < passNumber() || number == passNumber()
                && (phase != Phase.WALKING || received.contains(receive));
        if (isLate || !landed.add(receive)) {
            commands.add(new RankCommand.Discard(receive));
        }
    }

    private void landTied(int stage) {
        if (!tiedStages.contains(stage) || !tiedLanded.add(stage)) {
            throw new IllegalStateException("rank " + rank + " expected no tied gradient of stage " + stage
                    + ", but one landed while it is " + situation());
        }
    }

    /**
     * What has landed and is not used yet goes back: it is sent again, in order, so that a message that was lost before
     * it finds a buffer.
     */
    private void enterEpoch(int epoch, List<RankCommand> commands) {
        landed.forEach(receive -> commands.add(new RankCommand.Discard(receive)));
        landed.clear();
        commands.add(
                new RankCommand.ReportEpochReady(epoch, passNumber(), List.copyOf(received), List.copyOf(tiedLanded)));
    }

    /** Of the pass under way, or the last one; -1 for none. */
    private long passNumber() {
        return pass == null ? -1 : pass.number();
    }

    private void taskDone(StageTask task) {
        require(task.equals(ordered.peekFirst()), "the end of " + task);
        ordered.removeFirst();
        switch (task) {
            case StageTask.Compute _ -> {
            }
            case StageTask.ExchangeTiedGradient _,StageTask.AddTiedGradient _,StageTask.MeasureGradients _,StageTask.Update _ ->
                stagesDone++;
        }
    }

    private void requestUpdate() {
        require(phase == Phase.REPORTED, "a weight update");
        enter(Phase.UPDATING);
    }

    private void advance(List<RankCommand> commands) {
        boolean moved = true;
        while (moved) {
            moved = switch (phase) {
                case IDLE, REPORTED -> false;
                case WALKING -> walk(commands);
                case REDUCING -> ordered.isEmpty() && reduce(commands);
                case MEASURING -> ordered.isEmpty() && measure(commands);
                case UPDATING -> ordered.isEmpty() && update(commands);
            };
        }
    }

    private boolean walk(List<RankCommand> commands) {
        if (position == row.actions().size()) {
            return ordered.isEmpty() && endRow(commands);
        }
        Action action = row.actions().get(position);
        switch (action.kind()) {
            case RECV_F, RECV_B -> {
                if (!landed.remove(action)) {
                    return false;
                }
                received.add(action);
                position++;
            }
            case SEND_F, SEND_B -> {
                if (!ordered.isEmpty()) {
                    return false; // what it sends may not be computed yet
                }
                commands.add(new RankCommand.Send(action));
                position++;
            }
            case FORWARD, FULL_BACKWARD, BACKWARD_INPUT, BACKWARD_WEIGHT -> {
                if (ordered.size() == MOST_ORDERED) {
                    return false;
                }
                countLive(action);
                position++;
                run(new StageTask.Compute(action), sendsFromHere(), commands);
            }
        }
        return true;
    }

    private boolean endRow(List<RankCommand> commands) {
        if (!landed.isEmpty()) {
            throw new IllegalStateException(
                    "rank " + rank + " is at the end of its row" + where() + " and has no use for " + landed);
        }
        if (pass.kind() == Pass.Kind.TRAINING) {
            enter(Phase.REDUCING);
        } else {
            enter(Phase.IDLE);
            commands.add(new RankCommand.ReportPassDone(pass));
        }
        return true;
    }

    /** The sends from the present position on, which is then behind them. */
    private List<Action> sendsFromHere() {
        int first = position;
        while (position < row.actions().size() && row.actions().get(position).kind().isSend()) {
            position++;
        }
        return row.actions().subList(first, position);
    }

    private void countLive(Action action) {
        if (pass.kind() == Pass.Kind.VALIDATION) {
            return; // nothing is kept for a backward
        }
        if (action.kind().freesActivation()) {
            liveActivations--;
        } else if (action.kind() == Kind.FORWARD) {
            liveActivations++;
        }
        if (liveActivations > row.peakActivations()) {
            throw new IllegalStateException("rank " + rank + " would hold " + liveActivations + " live activations at "
                    + action + ", but its plan is certified for " + row.peakActivations());
        }
    }

    /** First every tied stage sends a copy, then each adds what it got. */
    private boolean reduce(List<RankCommand> commands) {
        if (stagesDone < tiedStages.size()) {
            run(new StageTask.ExchangeTiedGradient(tiedStages.get(stagesDone)), List.of(), commands);
            return true;
        }
        int added = stagesDone - tiedStages.size();
        if (added == tiedStages.size()) {
            enter(Phase.MEASURING);
            return true;
        }
        int stage = tiedStages.get(added);
        if (!tiedLanded.contains(stage)) {
            return false;
        }
        run(new StageTask.AddTiedGradient(stage), List.of(), commands);
        return true;
    }

    private boolean measure(List<RankCommand> commands) {
        if (stagesDone < stages.size()) {
            run(new StageTask.MeasureGradients(stages.get(stagesDone)), List.of(), commands);
        } else {
            enter(Phase.REPORTED);
            commands.add(new RankCommand.ReportPassDone(pass));
        }
        return true;
    }

    private boolean update(List<RankCommand> commands) {
        if (stagesDone < stages.size()) {
            run(new StageTask.Update(stages.get(stagesDone)), List.of(), commands);
        } else {
            enter(Phase.IDLE);
            commands.add(new RankCommand.ReportUpdated(pass.step()));
        }
        return true;
    }

    private void enter(Phase next) {
        phase = next;
        stagesDone = 0;
    }

    private void run(StageTask task, List<Action> sends, List<RankCommand> commands) {
        ordered.addLast(task);
        commands.add(new RankCommand.Run(task, sends));
    }

    private void require(boolean allowed, String what) {
        if (!allowed) {
            throw new IllegalStateException("rank " + rank + " cannot take " + what + " while it is " + situation());
        }
    }

    /** Whether a stage of this rank is at work; if not, only a message from elsewhere can move the rank on. */
    public boolean isComputing() {
        return !ordered.isEmpty();
    }

    /** What the rank is doing or waiting for, in words for an error message. */
    public String situation() {
        if (!ordered.isEmpty()) {
            return "computing " + ordered.getFirst() + where();
        }
        return switch (phase) {
            case IDLE -> "waiting for the coordinator to start a step";
            case REPORTED -> "waiting for the coordinator to allow the update" + where();
            case WALKING -> "waiting for " + row.actions().get(position) + where();
            case REDUCING -> "waiting for the other end's gradient of the tied embeddings" + where();
            case MEASURING, UPDATING -> "between two tasks" + where();
        };
    }

    /** Where in its row the rank is; empty where it is in no pass. */
    public Optional<RowPosition> position() {
        if (phase == Phase.IDLE) {
            return Optional.empty();
        }
        boolean isInRow = phase == Phase.WALKING && ordered.peekFirst() instanceof StageTask.Compute;
        return Optional.of(new RowPosition(pass.kind(), isInRow
                ? row.actions().indexOf(((StageTask.Compute) ordered.getFirst()).action())
                : position));
    }

    private String where() {
        return " in step " + pass.step() + (pass.kind() == Pass.Kind.VALIDATION ? " (validation)" : "");
    }
}
