package dev.troupe.protocol.run;

import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.MessageKeys;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The present epoch of a run: its incarnations, the ranks that are ready in it, and the recoveries of the step in progress.
 *
 * <p>Thread rule: none; one caller at a time.
 */
final class Epochs {
    private final RunSettings settings;
    private final EpochBarrier barrier = new EpochBarrier();
    private final Restarts restarts;
    private final Strikes strikes = new Strikes();
    private final List<Integer> allRanks;
    private int present;
    private int recoveries;

    Epochs(RunSettings settings, int term) {
        this.settings = settings;
        this.restarts = new Restarts(settings.rankCount(), term);
        this.allRanks = IntStream.range(0, settings.rankCount()).boxed().toList();
        barrier.begin(settings.rankCount());
    }

    /** Takes over after an epoch under another coordinator. */
    void takeOver(int first) {
        present = first - 1; // the new one begins with the restart of all
    }

    int present() {
        return present;
    }

    List<Integer> allRanks() {
        return allRanks;
    }

    /** Returns a rank as it was started last. */
    Incarnation last(int rank) {
        return restarts.last(rank);
    }

    /**
     * Returns whether an event is of a rank that was restarted since or that another coordinator has started, or of a
     * message that is sent again already.
     */
    boolean isOfThePast(RunEvent event) {
        return event instanceof RunEvent.OfRank said && !restarts.isCurrent(said.from())
                || event instanceof RunEvent.MessageLost lost && lost.epoch() != present;
    }

    boolean mayRecover() {
        return recoveries < settings.mostRecoveries();
    }

    /** Returns the reason for which this failure ends the run, with the number of recoveries in this step. */
    String failure(String reason, long stepsDone) {
        return recoveries == 0
                ? reason
                : reason + " (after " + recoveries + " recoveries since step " + stepsDone
                        + " began; recovery.most-per-step is the limit)";
    }

    /** Returns the reason why the run cannot continue if the error of this failure has struck at the same action before. */
    Optional<String> strike(RunEvent.RankFailed failed) {
        return strikes.take(failed);
    }

    /**
     * Returns the ranks to restart for a lost message: none at first, and all at the next loss in a step, since a lost
     * message between a rank and the coordinator is repeated only if the rank restarts.
     */
    List<Integer> restartedForMessage() {
        return recoveries > 0 && restarts.hasNoneOf(present) ? allRanks : List.of();
    }

    /** Begins the next epoch, in which these ranks start again. */
    void begin(List<Integer> restarted) {
        present++;
        barrier.begin(settings.rankCount());
        restarted.forEach(rank -> restarts.restart(rank, present));
    }

    /** Raises the number of the next epoch above this one. */
    void outrun(int former) {
        present = Math.max(present, former);
    }

    void countRecovery() {
        recoveries++;
    }

    /** Takes note that a rank is ready; returns whether that makes all ranks ready in the present epoch. */
    boolean ready(RunEvent.EpochReady ready, Pass pass) {
        boolean isOfThisPass = pass != null && ready.pass() == pass.number();
        return ready.epoch() == present // or another has begun since
                && barrier.ready(ready.from().rank(), isOfThisPass ? ready.received() : MessageKeys.NONE);
    }

    boolean isReady() {
        return barrier.isComplete();
    }

    /** Returns whether a rank is still to become ready. */
    boolean awaits(int rank) {
        return barrier.awaits(rank);
    }

    /** Returns the restarted ranks that have no order to repeat yet, and counts the order as given. */
    List<Integer> takeUntold() {
        return restarts.takeUntold();
    }

    void repeat(List<Integer> ranks) {
        restarts.repeat(ranks);
    }

    /** Returns whether a rank repeats the pass, and has not caught up with the others. */
    boolean isRepeating(int rank) {
        return restarts.isRepeating(rank);
    }

    /** Takes note that a rank has caught up; returns whether every rank is ready and none repeats the pass. */
    boolean endsRecovery(int rank) {
        restarts.hasRepeated(rank);
        return hasCaughtUp() && isReady();
    }

    /** Returns whether no rank has a pass to repeat. */
    boolean hasCaughtUp() {
        return restarts.isDone();
    }

    /** Returns the order to resend missing messages of the pass of this number, once all ranks are ready. */
    RunCommand.Resume resume(long pass) {
        return new RunCommand.Resume(present, pass, barrier.received());
    }

    void commit() {
        recoveries = 0;
        strikes.clear();
    }
}
