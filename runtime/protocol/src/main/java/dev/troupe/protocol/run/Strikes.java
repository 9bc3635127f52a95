package dev.troupe.protocol.run;

import dev.troupe.protocol.Strike;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The errors of the step in progress. An error that strikes again at the same action would strike for ever: an action is
 * computed from the same bits each time.
 *
 * <p>Thread rule: none; one caller at a time.
 */
final class Strikes {
    private final List<Strike> ofThisStep = new ArrayList<>();

    /**
     * Takes a failure; returns the reason why the run cannot continue, with the cause first, if its error has struck there
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
