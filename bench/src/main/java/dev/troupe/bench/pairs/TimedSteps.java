package dev.troupe.bench.pairs;

import dev.troupe.bench.Samples;
import java.util.List;

/**
 * The steps of one run, of Troupe or of its peer.
 *
 * @param seconds the time of each step after the warm-up
 * @param losses of every step, the warm-up included
 * @param processorSeconds processor time of the steps after the warm-up, in all processes together; 0: unknown
 */
record TimedSteps(List<Double> seconds, List<Double> losses, double processorSeconds) {
    double medianSeconds() {
        Samples samples = new Samples();
        samples.addAll(seconds);
        return samples.median();
    }
}
