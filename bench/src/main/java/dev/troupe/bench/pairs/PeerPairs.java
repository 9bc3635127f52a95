package dev.troupe.bench.pairs;

import dev.troupe.bench.MarkdownTable;
import dev.troupe.bench.Samples;
import java.util.List;
import java.util.Locale;

/** Alternating runs of one training by Troupe and by a peer. Thread rule: one thread. */
final class PeerPairs {
    private final PeerCase training;
    private final Samples ours = new Samples();
    private final Samples theirs = new Samples();
    private final Samples ratios = new Samples();
    private final Samples ourProcessor = new Samples();
    private final Samples theirProcessor = new Samples();
    private final Samples processorRatios = new Samples();
    private double lossDifference;
    private List<Double> ourLosses = List.of();
    private List<Double> theirLosses = List.of();

    PeerPairs(PeerCase training) {
        this.training = training;
    }

    /** One run of each, one after the other, so that other work of the machine affects both. */
    void add(TimedSteps our, TimedSteps their) {
        double ourSpeed = training.model().tokensPerStep() / our.medianSeconds();
        double theirSpeed = training.model().tokensPerStep() / their.medianSeconds();
        ours.add(ourSpeed);
        theirs.add(theirSpeed);
        ratios.add(ourSpeed / theirSpeed);
        if (our.processorSeconds() > 0 && their.processorSeconds() > 0) {
            int steps = our.seconds().size();
            ourProcessor.add(our.processorSeconds() / steps);
            theirProcessor.add(their.processorSeconds() / steps);
            processorRatios.add(theirProcessor.latest() / ourProcessor.latest());
        }
        ourLosses = our.losses();
        theirLosses = their.losses();
        for (int step = 0; step < Math.min(ourLosses.size(), theirLosses.size()); step++) {
            lossDifference = Math.max(lossDifference, Math.abs(ourLosses.get(step) / theirLosses.get(step) - 1));
        }
    }

    /**
     * Refuses runs that were not the same training.
     *
     * @param tolerance of the losses of any step of any pair, relative to the peer's
     * @throws IllegalStateException if a loss differs by more
     */
    void requireEqualLosses(double tolerance) {
        if (!(lossDifference <= tolerance)) {
            throw new IllegalStateException(String.format(Locale.ROOT,
                    "%s: from the same weights the losses must agree within %.1e, but they differ by %.1e: %s, and the peer's %s",
                    training, tolerance, lossDifference, ourLosses, theirLosses));
        }
    }

    /** The last pair in a few words. */
    String latest() {
        return String.format(Locale.ROOT,
                "%s, pair %d: %,.0f against %,.0f tokens/s%s; losses within %.1e", training, ratios.count(),
                ours.latest(), theirs.latest(),
                processorRatios.count() == 0
                        ? ""
                        : format(", %.2f against %.2f s of processor time a step", ourProcessor.latest(),
                                theirProcessor.latest()),
                lossDifference);
    }

    /** A row for each training: medians over the pairs, and the ratio of each pair with its spread. */
    static String table(List<PeerPairs> trainings) {
        MarkdownTable table = new MarkdownTable("training", "Troupe, tokens/s", "PyTorch, tokens/s", "ratio, median",
                "least to greatest", "processor time of a step, Troupe and PyTorch", "ratio, median",
                "least to greatest", "pairs", "losses differ by");
        for (PeerPairs pairs : trainings) {
            boolean isProcessorKnown = pairs.processorRatios.count() > 0;
            table.row(pairs.training.toString(), format("%,.0f", pairs.ours.median()),
                    format("%,.0f", pairs.theirs.median()), format("**%.2f**", pairs.ratios.median()),
                    format("%.2f to %.2f", pairs.ratios.least(), pairs.ratios.greatest()),
                    isProcessorKnown
                            ? format("%.2f s, %.2f s", pairs.ourProcessor.median(), pairs.theirProcessor.median())
                            : "",
                    isProcessorKnown ? format("**%.2f**", pairs.processorRatios.median()) : "",
                    isProcessorKnown
                            ? format("%.2f to %.2f", pairs.processorRatios.least(), pairs.processorRatios.greatest())
                            : "",
                    format("%d", pairs.ratios.count()), format("%.1e", pairs.lossDifference));
        }
        return table.toString();
    }

    private static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }
}
