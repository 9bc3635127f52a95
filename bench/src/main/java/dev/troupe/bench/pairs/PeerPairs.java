package dev.troupe.bench.pairs;

import dev.troupe.bench.MarkdownTable;
import dev.troupe.bench.MeasuredRun;
import dev.troupe.bench.Samples;
import java.util.List;
import java.util.Locale;

/** Runs of Troupe and of a peer, taken in turns, of one training. Thread rule: one thread. */
final class PeerPairs {
    private final PeerCase training;
    private final Samples ours = new Samples();
    private final Samples theirs = new Samples();
    private final Samples ratios = new Samples();
    private List<Double> ourLosses = List.of();
    private List<Double> theirLosses = List.of();

    PeerPairs(PeerCase training) {
        this.training = training;
    }

    /** One run of each, one after the other, so that other work of the machine affects both. */
    void add(MeasuredRun our, PeerRun their) {
        double ourSpeed = tokensPerSecond(our.stepSeconds());
        double theirSpeed = tokensPerSecond(their.stepSeconds());
        ours.add(ourSpeed);
        theirs.add(theirSpeed);
        ratios.add(ourSpeed / theirSpeed);
        ourLosses = our.losses();
        theirLosses = their.losses();
    }

    private double tokensPerSecond(List<Double> stepSeconds) {
        Samples seconds = new Samples();
        seconds.addAll(stepSeconds);
        return training.model().tokensPerStep() / seconds.median();
    }

    /** The last pair in a few words. */
    String latest() {
        return String.format(Locale.ROOT, "%s, pair %d: %,.0f against %,.0f tokens/s", training, ratios.count(),
                ours.latest(), theirs.latest());
    }

    /** A row for each training: medians over the pairs, and the ratio of each pair with its spread. */
    static String table(List<PeerPairs> trainings) {
        MarkdownTable table = new MarkdownTable("training", "Troupe, tokens/s", "PyTorch, tokens/s", "ratio, median",
                "least to greatest", "pairs", "loss of Troupe, first and last step", "of PyTorch");
        for (PeerPairs pairs : trainings) {
            table.row(pairs.training.toString(), format("%,.0f", pairs.ours.median()),
                    format("%,.0f", pairs.theirs.median()), format("**%.2f**", pairs.ratios.median()),
                    format("%.2f to %.2f", pairs.ratios.least(), pairs.ratios.greatest()),
                    format("%d", pairs.ratios.count()), firstAndLast(pairs.ourLosses),
                    firstAndLast(pairs.theirLosses));
        }
        return table.toString();
    }

    private static String firstAndLast(List<Double> losses) {
        return format("%.3f, %.3f", losses.getFirst(), losses.getLast());
    }

    private static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }
}
