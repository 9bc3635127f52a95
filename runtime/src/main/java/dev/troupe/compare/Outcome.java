package dev.troupe.compare;

import dev.troupe.schedule.timeline.Timeline;
import java.util.List;

/**
 * How one schedule did.
 *
 * @param contestant
 *            which one
 * @param engine
 *            the kind of engine it ran on
 * @param prediction
 *            what the simulator says
 * @param measured
 *            what was measured; the median where there are several
 * @param stepTime
 *            the spread of the measured steps
 * @param control
 *            from a tensor's landing to the start of the computing that waited for it
 * @param losses
 *            the loss of each step
 * @param agreement
 *            how its losses compare with the first schedule's, in words
 * @param measuredTimeline
 *            the measured step whose time is nearest to the median
 */
public record Outcome(Contestant contestant, String engine, Prediction prediction, Figures measured, StepTime stepTime,
        ControlTime control, List<Double> losses, String agreement, Timeline measuredTimeline) {
    public Outcome {
        losses = List.copyOf(losses);
    }

    /** What the simulator says. */
    public Figures predicted() {
        return prediction.figures();
    }

    /** How far the prediction of the step's time is from the median that was measured, as a share of the latter. */
    public double predictionError() {
        return predicted().stepSeconds() / measured.stepSeconds() - 1;
    }
}
