package dev.troupe.look.compare;

import dev.troupe.look.figure.PairedRatio;
import dev.troupe.look.figure.StepTime;
import dev.troupe.schedule.timeline.Timeline;
import java.util.List;

/**
 * The outcome of one schedule.
 *
 * @param measured the measured figures; the median if there are several
 * @param seconds the time of each measured step, in the order of the turns
 * @param control the time from a tensor's arrival to the start of the computing that waited for it
 * @param agreement the comparison of its losses with the first schedule's, as text
 * @param measuredTimeline the measured step with the time nearest to the median
 */
public record ScheduleOutcome(Contestant contestant, String engine, Prediction prediction, Figures measured,
        StepTime stepTime,
        List<Double> seconds, ControlTime control, List<Double> losses, String agreement, Timeline measuredTimeline) {
    public ScheduleOutcome {
        seconds = List.copyOf(seconds);
        losses = List.copyOf(losses);
    }

    public Figures predicted() {
        return prediction.figures();
    }

    /** Returns the ratio of this schedule's step times to another's, paired by turn. */
    public PairedRatio ratioTo(ScheduleOutcome other) {
        return PairedRatio.of(seconds, other.seconds);
    }

    /** Returns the ratio of predicted to measured step times, paired by turn, so that both are of the same minute. */
    public PairedRatio predictedOverMeasured() {
        return PairedRatio.of(prediction.seconds(), seconds);
    }
}
