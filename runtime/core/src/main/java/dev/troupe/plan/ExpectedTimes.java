package dev.troupe.plan;

import dev.troupe.engine.provider.Work;
import dev.troupe.engine.provider.WorkCosts;
import dev.troupe.protocol.watch.StragglerWatch;
import dev.troupe.schedule.Kind;

/** The expected time of each stage for a microbatch: the cost of its work. */
public record ExpectedTimes(WorkCosts costs) implements StragglerWatch.Expectation {
    @Override
    public double of(int stage, Kind kind) {
        return costs.nanos(stage, switch (kind) {
            case FORWARD -> Work.FORWARD;
            case FULL_BACKWARD -> Work.BACKWARD;
            case BACKWARD_INPUT -> Work.BACKWARD_INPUT;
            case BACKWARD_WEIGHT -> Work.BACKWARD_WEIGHT;
            case RECOMPUTE -> Work.RECOMPUTE;
            default -> throw new IllegalArgumentException(kind + " computes nothing");
        });
    }
}
