package dev.troupe.protocol.run;

import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.MessageKeys;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The present epoch of a run: which incarnations it knows, which ranks are ready in it, and how often the step under way was
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

    Epochs(RunSettings settings) {
        this.settings = settings;
        this.restarts = new Restarts(settings.rankCount());
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

    /** Of a rank that was restarted since, or of a message that is sent again already. */
    boolean isOfThePast(RunEvent event) {
        return event instanceof RunEvent.OfRank said && !restarts.isCurrent(said.from())
                || event instanceof RunEvent.MessageLost lost && lost.epoch() != present;
    }

    boolean mayRecover() {
        return recoveries < settings.mostRecoveries();
    }

    /** Why the run cannot continue after this failure, with how often it has in this step. */
    String failure(String reason, long stepsDone) {
        return recoveries == 0
                ? reason
                : reason + " (after " + recoveries + " recoveries since step " + stepsDone
                        + " began; recovery.most-per-step says how many may be)";
    }

    /** Why the run cannot continue where the error of this failure has struck at the same action before. */
    Optional<String> strike(RunEvent.RankFailed failed) {
        return strikes.take(failed);
    }

    /**
     * The ranks to start again for a message that is lost; once more in a step all: the loss may be of what a rank said, and
     * only its starting again brings that.
     */
    List<Integer> restartedForMessage() {
        return recoveries > 0 && restarts.hasNoneOf(present) ? allRanks : List.of();
    }

    /** The next epoch begins, in which these ranks start again. */
    void begin(List<Integer> restarted) {
        recoveries++;
        present++;
        barrier.begin(settings.rankCount());
        restarted.forEach(rank -> restarts.restart(rank, present));
    }

    /** A rank is ready; whether that makes all ranks ready in the present epoch. */
    boolean stand(RunEvent.EpochReady ready, Pass pass) {
        boolean isOfThisPass = pass != null && ready.pass() == pass.number();
        return ready.epoch() == present // or another has begun since
                && barrier.stand(ready.from().rank(), isOfThisPass ? ready.received() : MessageKeys.NONE);
    }

    /** Whether all ranks are ready. */
    boolean isReady() {
        return barrier.isComplete();
    }

    /** Whether a rank is still to be ready. */
    boolean awaits(int rank) {
        return barrier.awaits(rank);
    }

    /** The ranks that are not told yet what to do again; they are now. */
    List<Integer> takeUntold() {
        return restarts.takeUntold();
    }

    /** These ranks do the pass under way again. */
    void repeat(List<Integer> ranks) {
        restarts.repeat(ranks);
    }

    /** Whether a rank does the pass again, and is not where the others are. */
    boolean isRepeating(int rank) {
        return restarts.isRepeating(rank);
    }

    /** A rank that did the pass again is where the others are; whether every rank is ready and none does it again. */
    boolean endsRecovery(int rank) {
        restarts.hasRepeated(rank);
        return hasCaughtUp() && isReady();
    }

    /** Whether no rank has a pass to do again. */
    boolean hasCaughtUp() {
        return restarts.isDone();
    }

    /** All ranks are ready: what they are to send again of the pass of this number. */
    RunCommand.Resume resume(long pass) {
        return new RunCommand.Resume(present, pass, barrier.received());
    }

    /** A step is committed. */
    void commit() {
        recoveries = 0;
        strikes.clear();
    }
}
