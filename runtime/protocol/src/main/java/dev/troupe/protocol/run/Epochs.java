package dev.troupe.protocol.run;

import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.MessageKeys;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The present epoch of a run: which incarnations it knows, which ranks are ready in it, and how often the step in progress was
 * recovered.
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

    /** The epoch before this one was under another coordinator. */
    void takeOver(int first) {
        present = first - 1; // the new one begins with the restart of all
    }

    int present() {
        return present;
    }

    List<Integer> allRanks() {
        return allRanks;
    }

    /** A rank as it was started last. */
    Incarnation last(int rank) {
        return restarts.last(rank);
    }

    /**
     * Whether an event is of a rank that was restarted since or that another coordinator has started, or of a message that
     * is sent again already.
     */
    boolean isOfThePast(RunEvent event) {
        return event instanceof RunEvent.OfRank said && !restarts.isCurrent(said.from())
                || event instanceof RunEvent.MessageLost lost && lost.epoch() != present;
    }

    boolean mayRecover() {
        return recoveries < settings.mostRecoveries();
    }

    /** The reason for which this failure ends the run, with the number of recoveries in this step. */
    String failure(String reason, long stepsDone) {
        return recoveries == 0
                ? reason
                : reason + " (after " + recoveries + " recoveries since step " + stepsDone
                        + " began; recovery.most-per-step is the limit)";
    }

    /** Why the run cannot continue if the error of this failure has struck at the same action before. */
    Optional<String> strike(RunEvent.RankFailed failed) {
        return strikes.take(failed);
    }

    /**
     * The ranks to start again for a lost message: none at first, all at the next loss in a step, which may be of a word
     * between a rank and the coordinator, and only the rank's restart repeats that.
     */
    List<Integer> restartedForMessage() {
        return recoveries > 0 && restarts.hasNoneOf(present) ? allRanks : List.of();
    }

    /** The next epoch begins, in which these ranks start again. */
    void begin(List<Integer> restarted) {
        present++;
        barrier.begin(settings.rankCount());
        restarted.forEach(rank -> restarts.restart(rank, present));
    }

    /** The next epoch has a number above this one. */
    void outrun(int former) {
        present = Math.max(present, former);
    }

    /** Counts a recovery of the step in progress. */
    void countRecovery() {
        recoveries++;
    }

    /** A rank is ready; whether that makes all ranks ready in the present epoch. */
    boolean ready(RunEvent.EpochReady ready, Pass pass) {
        boolean isOfThisPass = pass != null && ready.pass() == pass.number();
        return ready.epoch() == present // or another has begun since
                && barrier.ready(ready.from().rank(), isOfThisPass ? ready.received() : MessageKeys.NONE);
    }

    /** Whether all ranks are ready. */
    boolean isReady() {
        return barrier.isComplete();
    }

    /** Whether a rank is still to be ready. */
    boolean awaits(int rank) {
        return barrier.awaits(rank);
    }

    /** Returns the restarted ranks that have no order to repeat yet, and counts the order as given. */
    List<Integer> takeUntold() {
        return restarts.takeUntold();
    }

    /** These ranks repeat the pass in progress. */
    void repeat(List<Integer> ranks) {
        restarts.repeat(ranks);
    }

    /** Whether a rank repeats the pass, and has not caught up with the others. */
    boolean isRepeating(int rank) {
        return restarts.isRepeating(rank);
    }

    /** A rank has caught up; whether every rank is ready and none repeats the pass. */
    boolean endsRecovery(int rank) {
        restarts.hasRepeated(rank);
        return hasCaughtUp() && isReady();
    }

    /** Whether no rank has a pass to repeat. */
    boolean hasCaughtUp() {
        return restarts.isDone();
    }

    /** All ranks are ready: the order to send missing messages of the pass of this number again. */
    RunCommand.Resume resume(long pass) {
        return new RunCommand.Resume(present, pass, barrier.received());
    }

    /** A step is committed. */
    void commit() {
        recoveries = 0;
        strikes.clear();
    }
}
