package dev.troupe.protocol.checkpoint;

import dev.troupe.protocol.LossScale;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The logic of checkpoints, one after the other, from the request of the run to the manifest.
 *
 * <pre>{@code IDLE --wanted--> WRITING --all parts--> COMMITTING --written--> IDLE |                       | +------>
 * DELETING <-----+ --deleted--> IDLE }</pre>
 *
 * <p>The {@linkplain CheckpointWay way} of the attempt determines whether the run waits. During training, nodes write the
 * parts from snapshots. A part belongs to a rank and a commit, so it remains valid if the rank restarts. A failure is
 * reported at once, and the run continues. If the run waits, ranks write their parts. A rank that restarts before its part
 * is written receives the command again, and the run decides the consequence of a failure.
 *
 * <p>The machine reports to the run when the checkpoint is settled: it is written, or deleted. Answers of an earlier attempt
 * are dropped.
 *
 * <p>Thread rule: none; one caller at a time.
 */
public final class CheckpointMachine {
    private enum State {
        IDLE, WRITING, COMMITTING, DELETING
    }

    private final int rankCount;
    private final BitSet answered = new BitSet();
    /** The ranks with pinned states or finished parts, which no update can overwrite. */
    private final BitSet pinned = new BitSet();
    private final CheckpointParts parts = new CheckpointParts();
    private State state = State.IDLE;
    private CheckpointAttempt attempt;
    private LossScale lossScale;
    private List<String> hosts = List.of();
    private boolean isWithdrawn;
    private boolean isPinned;
    private Optional<String> failure = Optional.empty();

    public CheckpointMachine(int rankCount) {
        this.rankCount = rankCount;
    }

    /** Handles one event and returns the commands, in order. */
    public List<CheckpointCommand> on(CheckpointEvent event) {
        List<CheckpointCommand> commands = new ArrayList<>();
        switch (event) {
            case CheckpointEvent.Wanted wanted -> begin(wanted, commands);
            case CheckpointEvent.RanksRestarted(var ranks) -> writeAgain(ranks, commands);
            case CheckpointEvent.Withdrawn() -> withdraw(commands);
            case CheckpointEvent.Pinned(var of, var ranks) -> {
                if (isAt(State.WRITING, of)) {
                    pin(ranks, commands);
                }
            }
            case CheckpointEvent.PartWritten(var of, int rank, CheckpointPart part) -> {
                if (awaitsPart(of, rank)) {
                    parts.add(part);
                    answer(rank, commands);
                }
            }
            case CheckpointEvent.PartFailed(var of, int rank, String why) -> {
                if (awaitsPart(of, rank)) {
                    failPart(rank, why, commands);
                }
            }
            case CheckpointEvent.NodeGone(String node, String reason) -> loseNode(node, reason, commands);
            case CheckpointEvent.Complete(var of) -> {
                if (isAt(State.COMMITTING, of)) {
                    commands.add(new CheckpointCommand.ReportWritten(of.stepsDone()));
                    settle(true, commands);
                }
            }
            case CheckpointEvent.Refused(var of, String why) -> {
                if (isAt(State.COMMITTING, of) || isAt(State.WRITING, of) && answered.isEmpty()) {
                    fail(why, commands);
                }
            }
            case CheckpointEvent.Deleted(var of) -> {
                if (isAt(State.DELETING, of)) {
                    settle(false, commands);
                }
            }
            case CheckpointEvent.Moving _ -> {
                // Only {@link #isOfThis} counts it.
            }
            case CheckpointEvent.Overdue() -> giveUp(commands);
        }
        return commands;
    }

    /** Returns whether bytes of the checkpoint in progress move. */
    public boolean isOfThis(CheckpointEvent.Moving moving) {
        return state != State.IDLE && moving.attempt().equals(attempt);
    }

    private void begin(CheckpointEvent.Wanted wanted, List<CheckpointCommand> commands) {
        if (state != State.IDLE) {
            throw new IllegalStateException("the run wants " + wanted.attempt() + " while " + attempt + " is " + state);
        }
        state = State.WRITING;
        attempt = wanted.attempt();
        lossScale = wanted.lossScale();
        hosts = wanted.hosts();
        isWithdrawn = false;
        isPinned = attempt.way() == CheckpointWay.AWAITED; // the run does nothing else meanwhile
        pinned.clear();
        failure = Optional.empty();
        answered.clear();
        parts.clear();
        commands.add(switch (attempt.way()) {
            case DURING_TRAINING -> new CheckpointCommand.WriteFromSnapshots(attempt, hosts);
            case AWAITED -> new CheckpointCommand.HaveRanksWrite(attempt,
                    IntStream.range(0, rankCount).boxed().toList());
        });
    }

    private void writeAgain(List<Integer> restarted, List<CheckpointCommand> commands) {
        List<Integer> again = restarted.stream().filter(rank -> awaitsPart(attempt, rank)).toList();
        if (!again.isEmpty() && isAwaited()) {
            commands.add(new CheckpointCommand.HaveRanksWrite(attempt, again));
        }
    }

    private void withdraw(List<CheckpointCommand> commands) {
        isWithdrawn = true;
        if (state == State.WRITING && isAwaited()) { // a checkpoint that is being committed is written, or fails
            fail("the run goes back", commands);
        }
    }

    private boolean isAwaited() {
        return attempt.way() == CheckpointWay.AWAITED;
    }

    private boolean isAt(State expected, CheckpointAttempt of) {
        return state == expected && of.equals(attempt);
    }

    private boolean awaitsPart(CheckpointAttempt of, int rank) {
        return isAt(State.WRITING, of) && !answered.get(rank);
    }

    private void pin(List<Integer> ranks, List<CheckpointCommand> commands) {
        ranks.forEach(pinned::set);
        if (pinned.cardinality() == rankCount) {
            reportPinned(commands);
        }
    }

    private void reportPinned(List<CheckpointCommand> commands) {
        if (!isPinned) {
            isPinned = true;
            commands.add(new CheckpointCommand.ReportPinned(attempt));
        }
    }

    private void failPart(int rank, String why, List<CheckpointCommand> commands) {
        parts.fail(rank, why);
        answer(rank, commands);
    }

    /**
     * Fails the parts of a lost node, which has the snapshots. If the run waits, a rank that restarts elsewhere writes its
     * part.
     */
    private void loseNode(String node, String reason, List<CheckpointCommand> commands) {
        for (int rank = 0; rank < hosts.size(); rank++) {
            if (hosts.get(rank).equals(node) && awaitsPart(attempt, rank) && !isAwaited()) {
                failPart(rank, reason, commands);
            }
        }
    }

    /** A failed checkpoint is deleted only after every answer: a node that still writes would leave its file. */
    private void answer(int rank, List<CheckpointCommand> commands) {
        answered.set(rank);
        pin(List.of(rank), commands);
        if (answered.cardinality() < rankCount) {
            return;
        }
        if (parts.failure().isPresent()) {
            fail(parts.failure().get(), commands);
        } else {
            state = State.COMMITTING;
            commands.add(new CheckpointCommand.CommitParts(attempt, lossScale, parts.inOrder()));
        }
    }

    private void fail(String why, List<CheckpointCommand> commands) {
        state = State.DELETING;
        reportPinned(commands); // nothing is needed any more
        if (isAwaited()) {
            failure = Optional.of(why);
        } else {
            commands.add(new CheckpointCommand.ReportFailed(attempt.stepsDone(), why));
        }
        commands.add(new CheckpointCommand.Delete(attempt));
    }

    private void settle(boolean isWritten, List<CheckpointCommand> commands) {
        state = State.IDLE;
        commands.add(new CheckpointCommand.ReportSettled(attempt, isWritten, failure.filter(_ -> !isWithdrawn)));
    }

    private void giveUp(List<CheckpointCommand> commands) {
        String why = "it made no progress for as long as the run may wait for it"
                + " (recovery.hang-timeout, and half of transport.timeout at most)";
        switch (state) {
            case WRITING -> fail(why, commands);
            case COMMITTING -> { // it may be complete at any time, so nothing of it is touched
                commands.add(new CheckpointCommand.ReportFailed(attempt.stepsDone(), why));
                settle(false, commands);
            }
            case DELETING -> settle(false, commands); // the next that is written has it deleted
            case IDLE -> throw new IllegalStateException("no checkpoint is in progress that the run could wait for");
        }
    }
}
