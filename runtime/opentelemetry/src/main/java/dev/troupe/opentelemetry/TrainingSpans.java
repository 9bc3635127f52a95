package dev.troupe.opentelemetry;

import dev.troupe.look.observe.Observation;
import dev.troupe.look.observe.RunObserver;
import dev.troupe.plan.prepare.RunFacts;
import io.opentelemetry.api.OpenTelemetry;

/** The spans of every run that a process leads: a trace for each measured step, and one for each recovery. */
public final class TrainingSpans implements RunObserver {
    /** The detail of a step's trace. */
    public enum Detail {
        /** One span, with the idle time of all ranks by cause. */
        STEP,
        /** In addition a child span for each rank, with its idle time by cause and its computing time by kind of action. */
        RANK,
        /** In addition a child span for each action, linked to the action that made the message it waited for. */
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
