package dev.troupe.run.actor;

import dev.troupe.rank.bits.BitKey;
import dev.troupe.rank.idle.StepTimes;
import dev.troupe.run.news.EarlierSteps;
import dev.troupe.run.news.RunListener;
import dev.troupe.run.setup.CoordinatorSetup;

/** Parts of a coordinator's setup for tests. */
final class Setups {
    private Setups() {
    }

    /** Returns the reports of a run that begins here. */
    static CoordinatorSetup.Reporting reporting(RunListener listener) {
        return new CoordinatorSetup.Reporting(listener, EarlierSteps.NONE, (_, output) -> output.toString(),
                (_, _) -> 0, StepTimes.Lengths.EQUAL);
    }
}
