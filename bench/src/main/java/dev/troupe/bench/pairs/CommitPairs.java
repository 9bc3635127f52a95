package dev.troupe.bench.pairs;

import dev.troupe.bench.Samples;
import java.util.Locale;

/** Alternating runs of one training by this tree and by another commit's. Thread rule: one thread. */
final class CommitPairs {
    private final PeerCase training;
    private final Samples ours = new Samples();
    private final Samples theirs = new Samples();
    private final Samples ratios = new Samples();
    private boolean areLossesEqual = true;

    CommitPairs(PeerCase training) {
        this.training = training;
    }

    /** Two runs of the same pair. */
    void add(TimedSteps our, TimedSteps their) {
        ours.add(training.model().tokensPerStep() / our.medianSeconds());
        theirs.add(training.model().tokensPerStep() / their.medianSeconds());
        ratios.add(ours.latest() / theirs.latest());
        areLossesEqual &= our.losses().equals(their.losses());
    }

    double latestRatio() {
        return ratios.latest();
    }

    /** The ratio of the speeds, above 1 if this tree is the faster one. */
    double medianRatio() {
        return ratios.median();
    }

    /** Cells: training, tokens per second of either side, ratio and its range, pairs, whether all losses are equal. */
    String[] row() {
        return new String[]{training.toString(), format("%,.0f", ours.median()), format("%,.0f", theirs.median()),
                format("**%.3f**", ratios.median()), format("%.3f to %.3f", ratios.least(), ratios.greatest()),
                format("%d", ratios.count()), areLossesEqual ? "yes" : "no"};
    }

    private static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }
}
