package dev.troupe.look.chaos;

import dev.troupe.rank.fault.FiredFault;
import dev.troupe.run.news.Recovery;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * One fault and its effect.
 *
 * @param fired time and place of the strike; empty if it did not strike
 * @param recovery the recovery; empty if no rank had to be restarted
 * @param missed the reason why it did not strike; empty if it did
 */
public record FaultOutcome(String fault, Optional<FiredFault> fired, Optional<Recovery> recovery,
        Optional<MissedFault> missed) {
    static FaultOutcome struck(FiredFault fired, Optional<Recovery> recovery) {
        return new FaultOutcome(fired.fault(), Optional.of(fired), recovery, Optional.empty());
    }

    static FaultOutcome missed(String fault, MissedFault why) {
        return new FaultOutcome(fault, Optional.empty(), Optional.empty(), Optional.of(why));
    }

    /** Returns the seconds from the strike until the coordinator was notified. */
    public OptionalDouble secondsToDetect() {
        return recovery.isPresent()
                ? seconds(fired.orElseThrow().timeMillis(), recovery.get().detectedAtMillis())
                : OptionalDouble.empty();
    }

    /** Returns the seconds from then until the restarted ranks were loaded and resumed. */
    public OptionalDouble secondsToRestart() {
        return recovery.isPresent()
                ? seconds(recovery.get().detectedAtMillis(), recovery.get().resumedAtMillis())
                : OptionalDouble.empty();
    }

    /** Returns the seconds from then until they had caught up with the others. */
    public OptionalDouble secondsToCatchUp() {
        return recovery.isPresent()
                ? seconds(recovery.get().resumedAtMillis(), recovery.get().caughtUpAtMillis())
                : OptionalDouble.empty();
    }

    private static OptionalDouble seconds(long fromMillis, long toMillis) {
        return OptionalDouble.of((toMillis - fromMillis) / 1000.0);
    }
}
