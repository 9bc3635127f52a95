package dev.troupe.chaos;

import dev.troupe.fault.FiredFault;
import dev.troupe.machine.Recovery;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * One fault and what came of it.
 *
 * @param fault
 *            as it was asked for
 * @param fired
 *            when and where it struck; empty where it never did
 * @param recovery
 *            how the run went on; empty where nothing had to be started again
 * @param missed
 *            why it did not strike; empty where it did
 */
public record FaultOutcome(String fault, Optional<FiredFault> fired, Optional<Recovery> recovery,
        Optional<MissedFault> missed) {
    static FaultOutcome struck(FiredFault fired, Optional<Recovery> recovery) {
        return new FaultOutcome(fired.fault(), Optional.of(fired), recovery, Optional.empty());
    }

    static FaultOutcome missed(String fault, MissedFault why) {
        return new FaultOutcome(fault, Optional.empty(), Optional.empty(), Optional.of(why));
    }

    /** Seconds until the coordinator heard of it. */
    public OptionalDouble secondsToDetect() {
        return recovery.isPresent()
                ? seconds(fired.orElseThrow().timeMillis(), recovery.get().detectedAtMillis())
                : OptionalDouble.empty();
    }

    /** Seconds from there until the restarted ranks were loaded and told to go on. */
    public OptionalDouble secondsToRestart() {
        return recovery.isPresent()
                ? seconds(recovery.get().detectedAtMillis(), recovery.get().resumedAtMillis())
                : OptionalDouble.empty();
    }

    /** Seconds from there until they had done again what the others had done already. */
    public OptionalDouble secondsToCatchUp() {
        return recovery.isPresent()
                ? seconds(recovery.get().resumedAtMillis(), recovery.get().caughtUpAtMillis())
                : OptionalDouble.empty();
    }

    private static OptionalDouble seconds(long fromMillis, long toMillis) {
        return OptionalDouble.of((toMillis - fromMillis) / 1000.0);
    }
}
