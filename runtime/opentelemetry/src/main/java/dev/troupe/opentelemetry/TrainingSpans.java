package dev.troupe.opentelemetry;

import dev.troupe.observe.Observation;
import dev.troupe.observe.RunFacts;
import dev.troupe.observe.RunObserver;
import io.opentelemetry.api.OpenTelemetry;

/**
 * Spans of every run that a process leads: a trace for each measured step, and one for each recovery.
 *
 * <p>Thread rule: any thread.
 */
public final class TrainingSpans implements RunObserver {
    /** The detail of a step's trace. */
    public enum Detail {
        /** One span, with the idle time of all ranks by cause. */
        STEP,
        /** A child for each rank too, with its idle time by cause and its computing by kind of action. */
        RANK,
        /** Below its rank a child for each action too, with a link to the action that made the message it waited for. */
        ACTION
    }

    private final OpenTelemetry telemetry;
    private final Detail detail;

    private TrainingSpans(OpenTelemetry telemetry, Detail detail) {
        this.telemetry = telemetry;
        this.detail = detail;
    }

    /** Returns an observer that gives spans to the tracer {@code dev.troupe}, such as the application's. */
    public static TrainingSpans to(OpenTelemetry telemetry, Detail detail) {
        return new TrainingSpans(telemetry, detail);
    }

    @Override
    public Observation observe(RunFacts run) {
        return new RunSpans(telemetry.getTracer("dev.troupe"), detail, run);
    }
}
