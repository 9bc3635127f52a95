package dev.troupe.cli;

import dev.troupe.compare.Outcome;
import dev.troupe.config.RunSpec;
import dev.troupe.schedule.drawing.SvgDrawing;
import dev.troupe.schedule.drawing.TimeScale;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The outcomes of a comparison as one page that needs nothing else: bars, the table, and a drawing for each schedule. */
final class ComparisonReport {
    private static final String STYLE = """
            :root { color-scheme: light dark; --line: #8886; --bar: #3b6fb6; --soft: #9dbbe0; }
            body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 1200px; padding: 0 1rem; }
            h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2.2rem; }
            table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
            th, td { padding: .3rem .7rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
            .scroll { overflow-x: auto; }
            .bars { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1rem; align-items: center; }
            .bar { display: flex; align-items: center; gap: .5rem; font-size: 13px; }
            .bar i { display: block; height: 12px; border-radius: 2px; }
            .predicted i { background: var(--soft); } .measured i { background: var(--bar); }
            .key i { display: inline-block; width: 12px; height: 12px; border-radius: 2px; margin: 0 .3rem 0 1rem; }
            svg { max-width: 100%; height: auto; }
            """;

    private ComparisonReport() {
    }

    static String of(RunSpec spec, List<Outcome> outcomes) {
        String title = spec.name() + ": " + outcomes.size() + (outcomes.size() == 1 ? " schedule" : " schedules");
        return """
                <!DOCTYPE html>
                <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
                <title>%s</title><style>
                %s</style></head><body>
                <h1>%s</h1>
                <p>%d ranks, %d microbatches of %d a step, engine %s. %s</p>
                <h2>Time of a step</h2>
                <p class="key"><i style="background:var(--soft)"></i>predicted<i style="background:var(--bar)"></i>measured, median</p>
                <div class="bars">%s</div>
                <h2>Predicted &rarr; measured</h2>
                <div class="scroll"><table><tr>%s</tr>%s</table></div>
                <p>Bubble: idle time of all ranks, over the time they compute (ideal), and over the time the plan takes
                (total). Activations: microbatch x stage, on the rank that holds most. In flight: bytes between ranks.
                Control: from the landing of the tensor a rank waits for to the start of its computing.</p>
                %s
                </body></html>
                """
                .formatted(escape(title), STYLE, escape(title), spec.parallel().pipeline(), spec.microbatchCount(),
                        spec.training().microbatchSize(), escape(spec.engine().kind()), verdict(outcomes),
                        bars(outcomes),
                        ComparisonTable.HEADINGS.stream().map(heading -> "<th>" + heading + "</th>")
                                .collect(Collectors.joining()),
                        outcomes.stream().map(ComparisonReport::row).collect(Collectors.joining("\n")),
                        outcomes.stream().map(ComparisonReport::drawing).collect(Collectors.joining("\n")));
    }

    private static String verdict(List<Outcome> outcomes) {
        Outcome best = outcomes.stream()
                .min(Comparator.comparingDouble(outcome -> outcome.measured().stepSeconds())).orElseThrow();
        Outcome first = outcomes.getFirst();
        if (best == first) {
            return "<b>" + escape(best.contestant().label()) + "</b> was the fastest.";
        }
        return String.format(Locale.ROOT, "<b>%s</b> was the fastest: %.1f %% less time a step than %s.",
                escape(best.contestant().label()),
                100 * (1 - best.measured().stepSeconds() / first.measured().stepSeconds()),
                escape(first.contestant().label()));
    }

    private static String bars(List<Outcome> outcomes) {
        double longest = outcomes.stream()
                .mapToDouble(outcome -> Math.max(outcome.predicted().stepSeconds(), outcome.measured().stepSeconds()))
                .max().orElse(1);
        return outcomes.stream().map(outcome -> "<div>" + escape(outcome.contestant().label()) + "</div><div>"
                + bar("predicted", outcome.predicted().stepSeconds(), longest)
                + bar("measured", outcome.measured().stepSeconds(), longest) + "</div>")
                .collect(Collectors.joining("\n"));
    }

    private static String bar(String kind, double seconds, double longest) {
        return String.format(Locale.ROOT, "<div class=\"bar %s\"><i style=\"width:%.1f%%\"></i>%.1f ms</div>", kind,
                80 * seconds / longest, 1000 * seconds);
    }

    private static String row(Outcome outcome) {
        return "<tr>" + ComparisonTable.cells(outcome).stream()
                .map(cell -> "<td>" + escape(cell).replace("-&gt;", "&rarr;") + "</td>").collect(Collectors.joining())
                + "</tr>";
    }

    private static String drawing(Outcome outcome) {
        long end = Math.max(outcome.predictedTimeline().endNanos(), outcome.measuredTimeline().endNanos());
        return "<h2>" + escape(outcome.contestant().label()) + "</h2><div class=\"scroll\">"
                + SvgDrawing.draw(List.of(outcome.predictedTimeline(), outcome.measuredTimeline()),
                        TimeScale.fitting(end))
                + "</div>";
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
