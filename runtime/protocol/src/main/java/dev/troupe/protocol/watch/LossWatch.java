package dev.troupe.protocol.watch;

import dev.troupe.protocol.MicrobatchLoss;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.run.LayerSquaredSum;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The detector of loss spikes. A spike is a loss above the median of the last {@value #WINDOW} steps by {@value #DEVIATIONS}
 * times their median deviation and by a quarter. A loss that remains high is one spike.
 *
 * <p>Thread rule: none; one caller at a time.
 */
public final class LossWatch {
    static final int WINDOW = 20;
    static final int DEVIATIONS = 10;
    private static final double LEAST_RISE = 1.25;

    /**
     * A spike.
     *
     * @param usual the median of the steps before it
     * @param block the block, or the embedding (0) or the head, with the gradient norm that has grown most against its
     *     median
     * @param growth the ratio of that norm to its median
     */
    public record Spike(double loss, double usual, int microbatch, double highest, int block, double growth) {
    }

    /** The measurements of a rank in a step. */
    private record Measured(List<MicrobatchLoss> losses, List<LayerSquaredSum> sums) {
    }

    private final Map<Integer, Measured> byRank = new HashMap<>();
    private final double[] losses = new double[WINDOW];
    /** The gradient norms of each block in the same steps. */
    private final Map<Integer, double[]> norms = new TreeMap<>();
    private long measuredStep = -1;
    private long steps;
    private boolean isHigh;

    /** Records the measurements of a rank that has done its row of a step, for the first time or again. */
    public void measured(long step, int rank, List<MicrobatchLoss> ofMicrobatches, List<LayerSquaredSum> sums) {
        if (step != measuredStep) {
            measuredStep = step;
            byRank.clear();
        }
        byRank.put(rank, new Measured(ofMicrobatches, sums));
    }

    /** Records a committed step; returns the spike if one begins with it. */
    public Optional<Spike> onStep(StepResult result) {
        Map<Integer, Double> now = result.step() == measuredStep ? norms(result.lossScale()) : Map.of();
        Optional<MicrobatchLoss> highest = byRank.values().stream().flatMap(measured -> measured.losses().stream())
                .max(Comparator.comparingDouble(MicrobatchLoss::loss));
        boolean isSpike = steps >= WINDOW && isFarAbove(result.loss());
        Optional<Spike> spike = isSpike && !isHigh && !now.isEmpty()
                ? highest.map(one -> spike(result.loss(), one, now))
                : Optional.empty();
        isHigh = isSpike;
        int place = (int) (steps++ % WINDOW);
        losses[place] = result.loss();
        now.forEach((block, norm) -> norms.computeIfAbsent(block, _ -> new double[WINDOW])[place] = norm);
        return spike;
    }

    private boolean isFarAbove(double loss) {
        double usual = median(losses);
        double deviation = median(Arrays.stream(losses).map(one -> Math.abs(one - usual)).toArray());
        return loss > LEAST_RISE * usual && loss - usual > DEVIATIONS * deviation;
    }

    private Spike spike(double loss, MicrobatchLoss highest, Map<Integer, Double> now) {
        int most = 0;
        double growth = 0;
        for (Map.Entry<Integer, Double> block : now.entrySet()) {
            double times = growth(block.getValue(), norms.get(block.getKey()));
            if (times > growth) {
                most = block.getKey();
                growth = times;
            }
        }
        return new Spike(loss, median(losses), highest.microbatch(), highest.loss(), most, growth);
    }

    /**
     * Returns the growth of a norm: 0 for frozen weights, which have a norm of 0, and infinity for a norm that is not a
     * number.
     */
    private static double growth(double norm, double[] before) {
        return Double.isNaN(norm)
                ? Double.POSITIVE_INFINITY
                : norm == 0 || before == null ? 0 : norm / median(before);
    }

    /** Returns the gradient norm of each block in the measured step. */
    private Map<Integer, Double> norms(double lossScale) {
        Map<Integer, Double> squares = new TreeMap<>();
        byRank.values().forEach(measured -> measured.sums()
                .forEach(sum -> squares.merge(sum.block(), sum.squaredSum(), Double::sum)));
        squares.replaceAll((_, square) -> Math.sqrt(square) / lossScale);
        return squares;
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[(sorted.length - 1) / 2];
    }
}
