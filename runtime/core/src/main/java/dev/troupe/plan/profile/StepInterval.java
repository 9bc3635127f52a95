package dev.troupe.plan.profile;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;

/**
 * The interval of a predicted step, by a bootstrap over the samples of a profile.
 *
 * <p>A machine is slower at one time than at another, for all layers at once, so neighbours among the samples are alike. A
 * draw therefore takes blocks of neighbours, at the same times for all layers, kinds and links. Single samples would give an
 * interval far too narrow, since each would be taken as independent of all others.
 *
 * <p>Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3 (percentiles); Kuensch, The
 * jackknife and the bootstrap for general stationary observations, 1989 (moving blocks).
 *
 * @param lowNanos the step that a share (1 - level) / 2 of the draws is not above
 * @param highNanos the step that the same share of the draws is not below
 */
public record StepInterval(long lowNanos, long nanos, long highNanos) {
    private static final int BLOCKS = 10;

    /**
     * Returns the interval.
     *
     * @param step the predicted step by the medians of a profile
     * @param level the share of draws in the interval, such as 0.9
     * @param draws number of draws, each a prediction; 200 suffice for a level of 0.9
     * @param seed the draws are the same for the same seed
     */
    public static StepInterval of(Profile profile, ToLongFunction<Profile> step, double level, int draws, long seed) {
        if (!(level > 0 && level < 1) || draws < 1) {
            throw new IllegalArgumentException("an interval has a level between 0 and 1 and draws of 1 or more, but"
                    + " found " + level + " and " + draws);
        }
        Random random = new Random(seed);
        long[] steps = new long[draws];
        for (int draw = 0; draw < draws; draw++) {
            steps[draw] = step.applyAsLong(profile.drawn(blocks(random.doubles(BLOCKS).toArray())));
        }
        Arrays.sort(steps);
        int outside = (int) Math.floor((1 - level) / 2 * draws);
        return new StepInterval(steps[outside], step.applyAsLong(profile), steps[draws - 1 - outside]);
    }

    /** Returns the same blocks of each list, each beginning at a share of the list. */
    private static UnaryOperator<List<Long>> blocks(double[] beginnings) {
        return samples -> {
            int size = Math.ceilDiv(samples.size(), BLOCKS);
            List<Long> drawn = new ArrayList<>();
            for (double beginning : beginnings) {
                int first = (int) (beginning * (samples.size() - size + 1)); // rounded down
                drawn.addAll(samples.subList(first, first + size));
            }
            return drawn;
        };
    }

    public boolean contains(long measuredNanos) {
        return measuredNanos >= lowNanos && measuredNanos <= highNanos;
    }
}
