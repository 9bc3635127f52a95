package dev.troupe.look.observe;

import dev.troupe.plan.prepare.RunFacts;

/**
 * An observer of runs in addition to their files, for meters or spans. The process that leads a run asks it for an
 * observation of that run. Thread rule: any thread.
 */
@FunctionalInterface
public interface RunObserver {
    /** Begins to observe a run that this process leads from now on. */
    Observation observe(RunFacts run);
}
