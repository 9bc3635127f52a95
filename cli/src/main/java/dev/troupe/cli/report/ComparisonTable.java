package dev.troupe.cli.report;

import dev.troupe.look.compare.ControlTime;
import dev.troupe.look.compare.Figures;
import dev.troupe.look.compare.ScheduleOutcome;
import dev.troupe.look.figure.PairedRatio;
import dev.troupe.look.figure.StepTime;
import java.util.List;
import java.util.Locale;

/** The outcomes of a comparison as columns of text; the report uses the same cells. */
public final class ComparisonTable {
    static final List<String> HEADINGS = List.of("schedule", "step predicted", "from .. to", "step measured",
            "from .. to", "relative to the first", "error", "bubble / ideal time", "bubble / total time",
            "peak activations",
            "peak in flight",
            "control p50/p90/p99", "losses");

    /** Explains the headings; the report does so at more length. */
    private static final String LEGEND = "predicted -> measured; relative to the first: median ratio of its steps to"
            + " the first schedule's, turn by turn, and its 95 % interval; error: the same of predicted to measured steps,"
            + " less 1; bubble: idle time of all ranks; peak activations:"
            + " microbatch x stage on the rank that holds most; in flight: made for a rank and not yet used; control: from"
            + " the landing of a tensor to the start of the computing that waits for it.";

    private ComparisonTable() {
    }

    /**
     * Returns a line for each schedule, with aligned columns, in several tables if the terminal is too narrow. An arrow
     * separates predicted and measured values.
     */
    public static String of(List<ScheduleOutcome> outcomes, Terminal terminal) {
        return Columns.fitted(HEADINGS, rows(outcomes), terminal.tableColumns())
                + "\n\n" + Columns.wrapped(LEGEND, terminal.lineColumns(), "");
    }

    static List<List<String>> rows(List<ScheduleOutcome> outcomes) {
        return outcomes.stream().map(outcome -> cells(outcome, outcomes.getFirst())).toList();
    }

    private static List<String> cells(ScheduleOutcome outcome, ScheduleOutcome first) {
        Figures predicted = outcome.predicted();
        Figures measured = outcome.measured();
        return List.of(outcome.contestant().label(), millis(predicted.stepSeconds()),
                spread(outcome.prediction().stepTime()), millis(measured.stepSeconds()), spread(outcome.stepTime()),
                ratio(outcome.ratioTo(first)), error(outcome.predictedOverMeasured()),
                percents(predicted.bubbleOverIdeal(), measured.bubbleOverIdeal()),
                percents(predicted.bubbleOverTotal(), measured.bubbleOverTotal()),
                predicted.peakActivations() + " -> " + measured.peakActivations(),
                bytes(predicted.peakBytesInFlight()) + " -> " + bytes(measured.peakBytesInFlight()),
                control(outcome.control()), outcome.agreement());
    }

    private static String millis(double seconds) {
        return String.format(Locale.ROOT, "%.1f ms", 1000 * seconds);
    }

    private static String spread(StepTime time) {
        return String.format(Locale.ROOT, "%.1f .. %s", 1000 * time.leastSeconds(), millis(time.mostSeconds()));
    }

    private static String ratio(PairedRatio ratio) {
        return String.format(Locale.ROOT, "%.3f (%.3f .. %.3f)", ratio.median(), ratio.low(), ratio.high());
    }

    private static String error(PairedRatio ratio) {
        return String.format(Locale.ROOT, "%+.1f %% (%+.1f .. %+.1f)", 100 * (ratio.median() - 1),
                100 * (ratio.low() - 1),
                100 * (ratio.high() - 1));
    }

    private static String control(ControlTime control) {
        return control.count() == 0
                ? "-"
                : String.format(Locale.ROOT, "%.0f / %.0f / %.0f us", control.medianNanos() / 1e3,
                        control.ninetiethNanos() / 1e3, control.ninetyNinthNanos() / 1e3);
    }

    private static String percents(double predicted, double measured) {
        return String.format(Locale.ROOT, "%.1f -> %.1f %%", 100 * predicted, 100 * measured);
    }

    private static String bytes(long count) {
        return count < 1 << 20
                ? String.format(Locale.ROOT, "%.0f KiB", count / 1024.0)
                : String.format(Locale.ROOT, "%.1f MiB", count / 1048576.0);
    }
}
