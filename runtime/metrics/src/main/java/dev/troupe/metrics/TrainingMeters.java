package dev.troupe.metrics;

import dev.troupe.look.observe.Observation;
import dev.troupe.look.observe.RunObserver;
import dev.troupe.plan.prepare.RunFacts;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * The meters of every run that a process leads, in a registry of Micrometer: {@code docs/observe.md} lists them. Each has
 * the tag {@code run}, the name of the run. The meters of an ended run remain in the registry, and the next run of the same
 * name continues its counters.
 *
 * <p>Thread rule: any thread.
 */
public final class TrainingMeters implements RunObserver {
    private final MeterRegistry registry;

    private TrainingMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    /** Returns an observer that meters runs in a registry, such as the application's. */
    public static TrainingMeters to(MeterRegistry registry) {
        return new TrainingMeters(registry);
    }

    @Override
    public Observation observe(RunFacts run) {
        return new RunMeters(registry, run);
    }
}
