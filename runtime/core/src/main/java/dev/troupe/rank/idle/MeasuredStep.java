package dev.troupe.rank.idle;

import java.util.ArrayList;
import java.util.List;

/**
 * A step with its idle time.
 *
 * @param idle its gaps, by cause
 * @param usual the usual times of its actions and messages, this step included
 */
public record MeasuredStep(StepTimes times, IdleTime idle, Usual usual) {
    public long number() {
        return times.step();
    }

    /** Returns the time that the step accounts for. */
    public long nanos() {
        return times.endNanos() - times.fromNanos();
    }

    /** Returns the reasons for a look at the step: {@code checkpoint}, {@code recovery}, {@code pause}. */
    public List<String> tags() {
        List<String> tags = new ArrayList<>();
        if (times.between() == Cause.STATE) {
            tags.add("checkpoint");
        }
        if (times.between() == Cause.RECOVERY) {
            tags.add("recovery");
        }
        if (times.ranks().stream().anyMatch(rank -> !rank.pauses().isEmpty())) {
            tags.add("pause");
        }
        return tags;
    }
}
