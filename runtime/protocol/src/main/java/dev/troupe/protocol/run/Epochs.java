package dev.troupe.protocol.run;

import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.MessageKeys;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The current epoch of a run: the incarnations of its ranks, the ranks that are ready, and the recoveries of the step in
 * progress.
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

    /** Takes over from another coordinator. The restart of all ranks, which follows, begins the epoch {@code first}. */
    void takeOver(int first) {
        present = first - 1;
    }

    int present() {
        return present;
    }

    List<Integer> allRanks() {
        return allRanks;
    }

    Incarnation last(int rank) {
        return restarts.last(rank);
    }

    /** Returns whether an event is obsolete: its rank has a newer incarnation, or its lost message is being sent again. */
    boolean isOfThePast(RunEvent event) {
        return event instanceof RunEvent.OfRank report && !restarts.isCurrent(report.from())
                || event instanceof RunEvent.MessageLost lost && lost.epoch() != present;
    }

    boolean mayRecover() {
        return recoveries < settings.mostRecoveries();
    }

    /**
     * Returns the sentence with which the run ends after a failure: its reason, and the number of recoveries in this step.
     */
    String failure(String reason, long stepsDone) {
        return recoveries == 0
                ? reason
                : reason + " (after " + recoveries + " recoveries since step " + stepsDone
                        + " began; recovery.most-per-step is the limit)";
    }

    /** Returns the reason why the run cannot continue, if the failed rank had the same error at the same action before. */
    Optional<String> strike(RunEvent.RankFailed failed) {
        return strikes.take(failed);
    }

    /**
     * Returns the ranks to restart for a lost message: none at the first loss in a step, and all at the next one. A message
     * between a rank and the coordinator is repeated only if the rank restarts.
     */
    List<Integer> restartedForMessage() {
        return recoveries > 0 && restarts.hasNoneOf(present) ? allRanks : List.of();
    }

    /** Begins the next epoch, in which these ranks restart. */
    void begin(List<Integer> restarted) {
        present++;
        barrier.begin(settings.rankCount());
        restarted.forEach(rank -> restarts.restart(rank, present));
    }

    /** Makes the number of the next epoch larger than {@code former}. */
    void outrun(int former) {
        present = Math.max(present, former);
    }

    void countRecovery() {
        recoveries++;
    }

    /** Records that a rank is ready; returns whether now all ranks are ready in the current epoch. */
    boolean ready(RunEvent.EpochReady ready, Pass pass) {
        boolean isOfThisPass = pass != null && ready.pass() == pass.number();
        return ready.epoch() == present // or another has begun since
                && barrier.ready(ready.from().rank(), isOfThisPass ? ready.received() : MessageKeys.NONE);
    }

    boolean isReady() {
        return barrier.isComplete();
    }

    boolean awaits(int rank) {
        return barrier.awaits(rank);
    }

    /** Returns the restarted ranks without an order for the pass, and records that the caller orders them now. */
    List<Integer> takeUnordered() {
        return restarts.takeUnordered();
    }

    void repeat(List<Integer> ranks) {
        restarts.repeat(ranks);
    }

    /** Returns whether a rank repeats the pass and has not caught up. */
    boolean isRepeating(int rank) {
        return restarts.isRepeating(rank);
    }

    /** Records that a rank has caught up; returns whether the recovery is complete. */
    boolean endsRecovery(int rank) {
        restarts.hasRepeated(rank);
        return hasCaughtUp() && isReady();
    }

    /** Returns whether no rank repeats the pass. */
    boolean hasCaughtUp() {
        return restarts.isDone();
    }

    /** Returns the order to resend the missing messages of a pass, for the moment when all ranks are ready. */
    RunCommand.Resume resume(long pass) {
        return new RunCommand.Resume(present, pass, barrier.received());
    }

    void commit() {
        recoveries = 0;
        strikes.clear();
    }
}
