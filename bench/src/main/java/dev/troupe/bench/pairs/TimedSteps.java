package dev.troupe.bench.pairs;

import dev.troupe.bench.Samples;
import java.util.List;

/**
 * The steps of one run of either side.
 *
 * @param seconds the time of each step after the warm-up
 * @param losses of every step, those of the warm-up first
 * @param processorSeconds what the steps after the warm-up took of processors, in all processes together; 0: not known
 */
record TimedSteps(List<Double> seconds, List<Double> losses, double processorSeconds) {
    /** The median time of a step. */
    double medianSeconds() {
        Samples samples = new Samples();
        samples.addAll(seconds);
        return samples.median();
    }
}
