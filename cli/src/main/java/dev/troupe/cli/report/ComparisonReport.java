package dev.troupe.cli.report;

import dev.troupe.config.RunSpec;
import dev.troupe.look.compare.ScheduleOutcome;
import dev.troupe.look.figure.StepTime;
import dev.troupe.schedule.drawing.SvgDrawing;
import dev.troupe.schedule.drawing.TimeScale;
import dev.troupe.schedule.timeline.Timeline;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The outcomes of a comparison as one self-contained page: bars, the table, and a drawing for each schedule. */
public final class ComparisonReport {
    private static final String BARS = """
            .bars { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1rem; align-items: center; }
            .bar { display: flex; align-items: center; gap: .5rem; font-size: 13px; white-space: nowrap; }
            .bar i { display: block; height: 12px; border-radius: 2px; flex: none; }
            @media (max-width: 900px) { .bars { grid-template-columns: 1fr; } .bar { flex-wrap: wrap; } }
            .predicted i { background: var(--soft); } .measured i { background: var(--bar); }
            """;

    private ComparisonReport() {
    }

    public static String of(RunSpec spec, List<ScheduleOutcome> outcomes) {
        String title = spec.name() + ": " + outcomes.size() + (outcomes.size() == 1 ? " schedule" : " schedules");
        String page = """
                <!DOCTYPE html>
                <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
                <title>%s</title><style>
                %s</style></head><body>
                <h1>%s</h1>
                <p>%d ranks, %d microbatches of %d a step, engine %s. %s</p>
                <h2>Time of a step</h2>
                <p class="key"><i style="background:var(--soft)"></i>predicted<i style="background:var(--bar)"></i>measured, median (and from least to most)</p>
                <div class="bars">%s</div>
                <h2>Predicted &rarr; measured</h2>
                %s
                <p class="note">The schedules do their steps in turns. Beside the first: the median ratio of a schedule's steps to
                those of the first, turn by turn, and its interval of 95 %% confidence (of less where there are under six turns).
                Bubble: idle time of all ranks, over the time they compute (ideal), and over the time the plan takes
                (total). Activations: microbatch x stage, on the rank that holds most. In flight: bytes made for a
                rank and not yet used by it, on the rank with most.
                Control: from the landing of the tensor a rank waits for to the start of its computing.
                Predicted: simulated with %s; from .. to with those of each run by itself.</p>
                <h2>The plans, predicted over measured, all on one axis</h2>
                <p class="note">A bar is an action with the number of its microbatch; grey is bubble. Measured is the step
                nearest to the median. The reductions and the update that follow a plan are in the time of a step and not
                in the drawings.</p>
                %s
                %s
                </body></html>
                """;
        return String.format(Locale.ROOT, page, Html.escape(title), Html.STYLE + BARS, Html.escape(title),
                spec.parallel().pipeline(),
                spec.microbatchCount(),
                spec.training().microbatchSize(), Html.escape(outcomes.getFirst().engine()),
                emphasized(Verdict.of(spec, outcomes)),
                bars(outcomes),
                Html.table(ComparisonTable.HEADINGS, ComparisonTable.rows(outcomes)),
                costsFrom(outcomes.getFirst()), Html.SIDEWAYS, drawings(outcomes));
    }

    private static String emphasized(Verdict verdict) {
        return "<b>" + Html.escape(verdict.sentence()) + "</b> " + Html.escape(verdict.remark());
    }

    private static String costsFrom(ScheduleOutcome outcome) {
        return outcome.engine().equals("emulated")
                ? "the times the engine is told, and the hop and control of steps between those measured"
                : "the times of steps between those measured";
    }

    private static String bars(List<ScheduleOutcome> outcomes) {
        double longest = outcomes.stream()
                .mapToDouble(outcome -> Math.max(outcome.predicted().stepSeconds(), outcome.measured().stepSeconds()))
                .max().orElse(1);
        return outcomes.stream().map(outcome -> "<div>" + Html.escape(outcome.contestant().label()) + "</div><div>"
                + bar("predicted", outcome.predicted().stepSeconds(), outcome.prediction().stepTime(), longest)
                + bar("measured", outcome.measured().stepSeconds(), outcome.stepTime(), longest) + "</div>")
                .collect(Collectors.joining("\n"));
    }

    private static String bar(String kind, double seconds, StepTime spread, double longest) {
        return String.format(Locale.ROOT,
                "<div class=\"bar %s\"><i style=\"width:%.1f%%\"></i>%.1f ms (%.1f to %.1f)</div>", kind,
                80 * seconds / longest, 1000 * seconds, 1000 * spread.leastSeconds(), 1000 * spread.mostSeconds());
    }

    private static String drawings(List<ScheduleOutcome> outcomes) {
        List<Timeline> all = outcomes.stream().flatMap(ComparisonReport::timelines).toList();
        TimeScale scale = TimeScale.fitting(all.stream().mapToLong(Timeline::endNanos).max().orElse(0));
        return outcomes.stream()
                .map(outcome -> "<h3>" + Html.escape(outcome.contestant().label()) + "</h3>"
                        + Html.drawing(SvgDrawing.draw(timelines(outcome).toList(), all, scale, Html.PAGE)))
                .collect(Collectors.joining("\n"));
    }

    private static Stream<Timeline> timelines(ScheduleOutcome outcome) {
        return Stream.of(outcome.prediction().timeline(), outcome.measuredTimeline());
    }
}
