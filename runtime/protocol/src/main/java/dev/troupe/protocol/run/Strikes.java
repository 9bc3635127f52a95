package dev.troupe.protocol.run;

import dev.troupe.protocol.Strike;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The errors of the step in progress. An error that repeats at the same action would repeat for ever, since the action
 * computes on the same bits in each attempt.
 *
 * <p>Thread rule: none; one caller at a time.
 */
final class Strikes {
    private final List<Strike> ofThisStep = new ArrayList<>();

    /**
     * Records a failure; returns the reason why the run cannot continue, if the same error occurred at the same action
     * before.
     */
    Optional<String> take(RunEvent.RankFailed failed) {
        Optional<Strike> strike = failed.strike();
        boolean isAgain = strike.filter(now -> ofThisStep.stream().anyMatch(now::isAgain)).isPresent();
        strike.ifPresent(ofThisStep::add);
        return strike.filter(_ -> isAgain)
                .map(now -> now.cause() + " (rank " + failed.from().rank() + ", " + now.where()
                        + "; it was started again, and the same error struck there again, so the run ends)");
    }

    void clear() {
        ofThisStep.clear();
    }
}
