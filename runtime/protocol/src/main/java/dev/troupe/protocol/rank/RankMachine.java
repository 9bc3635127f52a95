package dev.troupe.protocol.rank;

import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RowPosition;
import dev.troupe.schedule.Action;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The logic of one rank: it walks the row of the pass in progress ({@link RowWalk}) and reports to the coordinator. A
 * training row has the whole step. After the norms the rank reports losses and squared sums, and at the end of the row that
 * the new weights are in place. If steps overlap, a row has several: the rank reports each after its norms and continues,
 * and an update waits for the decision of its step.
 *
 * <p>A rank obeys only the coordinator under which its node started it; {@link #obeys} checks this.
 *
 * <p>Thread rule: none; one caller at a time. An event that the state does not allow is an {@link IllegalStateException}:
 * the plan was certified, so it is a defect of the caller.
 */
public final class RankMachine {
    /** A message of a pass that has not started on this rank yet. */
    private record Early(long pass, Action receive) {
    }

    private static final RankRow NO_ROW = new RankRow(List.of(), 0);

    private final int rank;
    private final int term;
    private final Map<Pass.Kind, RankRow> rows;
    private final Set<Early> early = new LinkedHashSet<>();

    // The pass in progress, or the last one; null before the first.
    private Pass pass;
    private RowWalk walk = new RowWalk(NO_ROW, false);
    // The number of reported steps.
    private int reported;
    private boolean hasUpdated;

    /**
     * @param rank this rank, for error messages
     * @param term the term of the coordinator under which the rank was started
     * @param validationRow its row of the lowered forward-only plan
     */
    public RankMachine(int rank, int term, RankRow trainingRow, RankRow validationRow) {
        this.rank = rank;
        this.term = term;
        this.rows = new EnumMap<>(Map.of(Pass.Kind.TRAINING, trainingRow, Pass.Kind.VALIDATION, validationRow));
    }

    /** Returns whether the rank obeys orders of the coordinator with this term. */
    public boolean obeys(int from) {
        return from == term;
    }

    /** Handles one event and returns the commands, in order. */
    public List<RankCommand> on(RankEvent event) {
        List<RankCommand> commands = new ArrayList<>();
        switch (event) {
            case RankEvent.PassStarted(Pass started, int decidedSteps) -> start(started, decidedSteps, commands);
            case RankEvent.Landed(Action receive, long number) -> land(receive, number, commands);
            case RankEvent.ActionDone(Action action) -> {
                require(walk.isDoing(action), "the end of " + action);
                walk.ended(action);
            }
            case RankEvent.UpdateRequested(int step) -> {
                if (step <= walk.decidedSteps()) { // or the decision before it was lost: the stall is noticed
                    require(step == walk.decidedSteps() && walk.measuredSteps() > step, "a weight update");
                    walk.decided();
                }
            }
            case RankEvent.EpochEntered(int epoch) -> enterEpoch(epoch, commands);
        }
        advance(commands);
        return commands;
    }

    private void start(Pass started, int decidedSteps, List<RankCommand> commands) {
        require(walk.isOver(), "a new pass");
        pass = started;
        walk = new RowWalk(rows.get(started.kind()), started.kind() == Pass.Kind.TRAINING);
        for (int step = 0; step < decidedSteps; step++) {
            walk.decided();
        }
        reported = 0;
        hasUpdated = false;
        List<Early> waiting = List.copyOf(early);
        early.clear();
        waiting.forEach(message -> land(message.receive(), message.pass(), commands));
    }

    /**
     * Handles an arrived message. A message may precede the start of its pass here, since its sender may have started
     * earlier. A repeated or late message is discarded.
     */
    private void land(Action receive, long number, List<RankCommand> commands) {
        boolean isOfUse = number > passNumber()
                ? early.add(new Early(number, receive))
                : number == passNumber() && walk.landed(receive);
        if (!isOfUse) {
            commands.add(new RankCommand.Discard(receive, number));
        }
    }

    private void enterEpoch(int epoch, List<RankCommand> commands) {
        walk.enterEpoch().forEach(receive -> commands.add(new RankCommand.Discard(receive, passNumber())));
        early.forEach(message -> commands.add(new RankCommand.Discard(message.receive(), message.pass())));
        early.clear();
        commands.add(new RankCommand.ReportEpochReady(epoch, passNumber(), walk.received()));
    }

    /** The number of the pass in progress, or of the last one; -1 for none. */
    private long passNumber() {
        return pass == null ? -1 : pass.number();
    }

    private void advance(List<RankCommand> commands) {
        Optional<Action> next = next();
        while (next.isPresent()) {
            Action action = next.get();
            commands.add(action.kind().isTransfer()
                    ? new RankCommand.Send(action)
                    : new RankCommand.Run(action, walk.takeSends()));
            next = next();
        }
        if (walk.isOver() && !walk.unused().isEmpty()) {
            throw new IllegalStateException("rank " + rank + " is at the end of its row" + where()
                    + " and has no use for " + walk.unused());
        }
        if (pass == null) {
            return;
        }
        int measured = walk.isOver() ? Math.max(1, walk.measuredSteps()) : walk.measuredSteps();
        while (reported < measured) {
            commands.add(new RankCommand.ReportPassDone(pass, pass.step() + reported));
            reported++;
        }
        if (walk.isOver() && walk.decidedSteps() > 0 && !hasUpdated) {
            hasUpdated = true;
            commands.add(new RankCommand.ReportUpdated(pass.step()));
        }
    }

    private Optional<Action> next() {
        try {
            return walk.next();
        } catch (IllegalStateException refused) {
            throw new IllegalStateException("rank " + rank + " " + refused.getMessage(), refused);
        }
    }

    private void require(boolean allowed, String what) {
        if (!allowed) {
            throw new IllegalStateException("rank " + rank + " cannot take " + what + " while it is " + situation());
        }
    }

    /** Returns whether a stage of this rank is computing; if not, only a message can make the rank progress. */
    public boolean isComputing() {
        return walk.isWorking();
    }

    /** Returns the action in progress or awaited, in words for an error message. */
    public String situation() {
        return walk.isOver() ? "waiting for the coordinator to start a step" : walk.situation() + where();
    }

    /** Returns the position of the rank in its row; empty between passes. */
    public Optional<RowPosition> position() {
        return walk.isOver() ? Optional.empty() : Optional.of(new RowPosition(pass.kind(), walk.position()));
    }

    private String where() {
        return " in step " + pass.step() + (pass.kind() == Pass.Kind.VALIDATION ? " (validation)" : "");
    }
}
