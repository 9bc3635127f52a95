package dev.troupe.look.observe;

import dev.troupe.plan.prepare.RunFacts;

/** An observer of runs in addition to their files, for meters or spans. Thread rule: any thread. */
@FunctionalInterface
public interface RunObserver {
    /** Begins to observe a run that this process leads from now on. */
    Observation observe(RunFacts run);
}
