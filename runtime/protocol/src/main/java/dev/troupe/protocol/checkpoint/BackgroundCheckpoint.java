package dev.troupe.protocol.checkpoint;

import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.RunSettings;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * The logic of checkpoints that are written beside training, from what ranks keep at a commit. One at a time; while it
 * is under way the run goes on, up to the commit at which the next is due by its steps; one that is due by the time
 * waits for the one under way.
 *
 * <pre>
 *   IDLE --a commit at which one is due--> WRITING --all parts--> COMMITTING --it stands--> IDLE
 *                                             |                      |
 *                                             +------> DELETING <----+ --> IDLE
 * </pre>
 *
 * <p>Parts belong to a rank and a commit, not to an incarnation: a rank that is started again while its part is written
 * takes nothing from it. Where the run goes back and commits a step again, what it keeps has the same bits.
 *
 * <p>One that cannot be written is done without, and the next is tried when it is due. The last of a run is none of these:
 * the run machine has the ranks write it.
 *
 * <p>Thread rule: none; one caller at a time.
 */
public final class BackgroundCheckpoint {
    private enum State {
        IDLE, WRITING, COMMITTING, DELETING
    }

    private final RunSettings settings;
    private final BitSet answered = new BitSet();
    private final CheckpointParts parts = new CheckpointParts();
    private State state = State.IDLE;
    private CheckpointAttempt attempt;
    private LossScale lossScale;
    private List<String> hosts = List.of();
    // Of the one that was begun last, unless that failed.
    private long newest;
    private boolean isTimeUp;
    private boolean isEnding;

    /**
     * @param settings
     *            with how many steps lie between two checkpoints, and the one that stands already
     */
    public BackgroundCheckpoint(RunSettings settings) {
        this.settings = settings;
        this.newest = settings.savedStep();
    }

    /** Takes in one event and returns what is to be done, in order; answers that nobody waits for any more are not heard. */
    public List<CheckpointCommand> on(CheckpointEvent event) {
        List<CheckpointCommand> commands = new ArrayList<>();
        switch (event) {
            case CheckpointEvent.Committed committed -> begin(committed, commands);
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
            case CheckpointEvent.NodeGone(String node, String reason) -> {
                for (int rank = 0; rank < hosts.size(); rank++) {
                    if (hosts.get(rank).equals(node) && awaitsPart(attempt, rank)) {
                        failPart(rank, reason, commands);
                    }
                }
            }
            case CheckpointEvent.Stands(var of) -> {
                if (isAt(State.COMMITTING, of)) {
                    state = State.IDLE;
                    commands.add(new CheckpointCommand.ReportStands(of.stepsDone()));
                }
            }
            case CheckpointEvent.Refused(var of, String why) -> {
                if (isAt(State.COMMITTING, of)) {
                    fail(why, commands);
                }
            }
            case CheckpointEvent.Deleted(var of) -> {
                if (isAt(State.DELETING, of)) {
                    state = State.IDLE;
                }
            }
            case CheckpointEvent.Moving _ -> {
                // Whoever waits for it goes on waiting.
            }
            case CheckpointEvent.Overdue() -> giveUp(commands);
            case CheckpointEvent.TimeIsUp() -> isTimeUp = true;
            case CheckpointEvent.Ending() -> isEnding = true;
        }
        return commands;
    }

    /** Whether an event is of the one under way. */
    public boolean isOfThis(CheckpointEvent.Moving moving) {
        return isUnderWay() && moving.attempt().equals(attempt);
    }

    /** Whether one is not at its end yet. */
    public boolean isUnderWay() {
        return state != State.IDLE;
    }

    /** Whether the commit after so many steps has to wait for the one under way, since another is due at it. */
    public boolean holdsUp(long stepsDone) {
        return isUnderWay() && isDue(stepsDone) && attempt.stepsDone() != stepsDone;
    }

    private boolean isDue(long stepsDone) {
        return mayBegin(stepsDone) && RunSettings.isDue(settings.checkpointEvery(), stepsDone);
    }

    /** The last of a run is not written beside training. */
    private boolean mayBegin(long stepsDone) {
        return !isEnding && stepsDone < settings.stepCount();
    }

    private void begin(CheckpointEvent.Committed committed, List<CheckpointCommand> commands) {
        long stepsDone = committed.commit().stepsDone();
        boolean isWanted = isDue(stepsDone) || isTimeUp && mayBegin(stepsDone);
        if (!isUnderWay() && isWanted && newest != stepsDone) {
            isTimeUp = false;
            state = State.WRITING;
            newest = stepsDone;
            attempt = new CheckpointAttempt(stepsDone, committed.epoch());
            lossScale = committed.commit().lossScale();
            hosts = committed.hosts();
            answered.clear();
            parts.clear();
            commands.add(new CheckpointCommand.WriteParts(attempt, hosts));
        }
    }

    private boolean isAt(State expected, CheckpointAttempt of) {
        return state == expected && of.equals(attempt);
    }

    private boolean awaitsPart(CheckpointAttempt of, int rank) {
        return isAt(State.WRITING, of) && !answered.get(rank);
    }

    private void failPart(int rank, String why, List<CheckpointCommand> commands) {
        parts.fail(rank, why);
        answer(rank, commands);
    }

    /** Deleted only when nobody writes any more: whoever still does would leave its file behind. */
    private void answer(int rank, List<CheckpointCommand> commands) {
        answered.set(rank);
        if (answered.cardinality() < settings.rankCount()) {
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
        newest = settings.savedStep();
        commands.add(new CheckpointCommand.ReportFailed(attempt.stepsDone(), why));
        commands.add(new CheckpointCommand.Delete(attempt));
    }

    private void giveUp(List<CheckpointCommand> commands) {
        String why = "nothing of it moved any more while the run waited for it, for as long as it may"
                + " (recovery.hang-timeout, and half of transport.timeout at most)";
        switch (state) {
            case WRITING -> fail(why, commands);
            case COMMITTING -> { // it may come to stand at any time, so nothing of it is touched
                state = State.IDLE;
                commands.add(new CheckpointCommand.ReportFailed(attempt.stepsDone(), why));
            }
            case DELETING -> state = State.IDLE; // the next that stands has it deleted
            case IDLE -> throw new IllegalStateException("no checkpoint is under way that the run could wait for");
        }
    }
}
