package dev.troupe.cli.plan;

import dev.troupe.cli.report.Columns;
import dev.troupe.cli.report.Terminal;
import dev.troupe.look.compare.PlanTrial.Measured;
import dev.troupe.look.figure.PairedRatio;
import dev.troupe.look.figure.StepTime;
import dev.troupe.plan.planner.PlanAnswer;
import dev.troupe.plan.profile.StepInterval;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The predicted and the measured steps of the best plans for a person. */
final class TrialTable {
    private static final List<String> HEADINGS = List.of("", "predicted s", "90 % interval", "measured s", "from .. to",
            "error", "in the interval", "relative to 1");

    private TrialTable() {
    }

    /** @param asked the number of plans that were to be measured */
    static String of(PlanAnswer answer, List<Measured> measured, int asked, Terminal terminal) {
        List<List<String>> rows = new ArrayList<>();
        for (Measured trial : measured) {
            rows.add(row(rows.size() + 1, answer, trial, measured.getFirst()));
        }
        StringBuilder text = new StringBuilder("\n").append(Columns.of(HEADINGS, rows)).append("\n\n");
        text.append(Columns.wrapped("Measured on the engine " + measured.getFirst().plan().spec().engine().kind()
                + ", " + measured.getFirst().seconds().size() + " steps of each plan alternately. Error: predicted by"
                + " measured, less 1. Relative to 1: median ratio of the steps to the steps of the first plan, turn by"
                + " turn, and its interval.", terminal.lineColumns(), "")).append('\n');
        if (measured.size() < asked) {
            text.append("The plans from ").append(measured.size() + 1)
                    .append(" on do not fit the free memory of this machine together with those before.\n");
        }
        return text.toString();
    }

    private static List<String> row(int place, PlanAnswer answer, Measured trial, Measured first) {
        StepTime time = StepTime.of(trial.seconds());
        PairedRatio ratio = PairedRatio.of(trial.seconds(), first.seconds());
        StepInterval interval = answer.intervals().get(trial.plan().choice());
        boolean hasInterval = interval != null && interval.nanos() == trial.plan().stepNanos();
        return List.of("" + place, seconds(trial.plan().stepNanos() / 1e9),
                hasInterval ? seconds(interval.lowNanos() / 1e9) + " .. " + seconds(interval.highNanos() / 1e9) : "-",
                seconds(time.medianSeconds()),
                seconds(time.leastSeconds()) + " .. " + seconds(time.mostSeconds()),
                String.format(Locale.ROOT, "%+.1f %%", 100 * (trial.predictedOverMeasured() - 1)),
                hasInterval ? interval.contains(Math.round(time.medianSeconds() * 1e9)) ? "yes" : "no" : "-",
                String.format(Locale.ROOT, "%.3f (%.3f .. %.3f)", ratio.median(), ratio.low(), ratio.high()));
    }

    private static String seconds(double seconds) {
        return String.format(Locale.ROOT, "%.4g", seconds);
    }
}
