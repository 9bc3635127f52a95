package dev.troupe.cli;

import dev.troupe.chaos.ChaosResult;
import dev.troupe.chaos.CommittedStep;
import dev.troupe.chaos.RunRecord;
import dev.troupe.config.RunSpec;
import dev.troupe.fault.FiredFault;
import dev.troupe.machine.Recovery;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A disturbed run beside the undisturbed one, as one page that needs nothing else: the table, and both runs over time. */
final class ChaosReport {
    private static final int WIDTH = 1200;
    private static final int ROW = 26;
    private static final int TOP = 18;
    private static final int GAP = 30;

    private ChaosReport() {
    }

    static String of(RunSpec spec, ChaosResult result) {
        String title = spec.name() + ": " + result.faults().size()
                + (result.faults().size() == 1 ? " fault" : " faults");
        return """
                <!DOCTYPE html>
                <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
                <title>%s</title><style>
                %s
                .step { fill: #9dbbe0; } .odd { fill: #3b6fb6; } .detect { fill: #c0392b; }
                .restart { fill: #e67e22; } .replay { fill: #f1c40f; } .fault { fill: #c0392b; }
                svg text { font: 11px system-ui, sans-serif; fill: currentColor; }
                </style></head><body>
                <h1>%s</h1>
                <p>%d ranks, %s, %d microbatches of %d a step. <b>%s</b></p>
                <h2>What struck, and what it took</h2>
                <div class="scroll"><table><tr>%s</tr>%s</table></div>
                <p class="note">Detected: from the fault to the coordinator's hearing of it. Restarted: from there until the ranks
                that were started again had their weights. Caught up: from there until they had done again what the others
                had done. Throughput: from the start of the first step to the end of the last.</p>
                <h2>Both runs over time</h2>
                <p class="key"><i style="background:#9dbbe0"></i>steps<i style="background:#c0392b"></i>until detected<i style="background:#e67e22"></i>until restarted<i style="background:#f1c40f"></i>until caught up; a triangle is a fault</p>
                <div class="scroll">%s</div>
                </body></html>
                """
                .formatted(Html.escape(title), Html.STYLE, Html.escape(title), spec.parallel().worldSize(),
                        Html.escape(spec.parallel().schedule()), spec.microbatchCount(),
                        spec.training().microbatchSize(), Html.escape(ChaosTable.summary(result)),
                        ChaosTable.HEADINGS.stream().map(heading -> "<th>" + heading + "</th>")
                                .collect(Collectors.joining()),
                        result.faults().stream().map(outcome -> row(ChaosTable.cells(outcome)))
                                .collect(Collectors.joining("\n")),
                        timeline(result));
    }

    private static String row(List<String> cells) {
        return "<tr>" + cells.stream().map(cell -> "<td>" + Html.escape(cell) + "</td>").collect(Collectors.joining())
                + "</tr>";
    }

    private static String timeline(ChaosResult result) {
        double longest = Math.max(result.undisturbed().seconds(), result.disturbed().seconds());
        if (longest == 0) {
            return "";
        }
        double scale = WIDTH / longest;
        int second = TOP + ROW + GAP;
        return String.format(Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">"
                        + "<text x=\"0\" y=\"%d\">undisturbed: %.2f s</text>%s"
                        + "<text x=\"0\" y=\"%d\">disturbed: %.2f s</text>%s%s%s</svg>",
                WIDTH + 20, second + ROW + 30, TOP - 5, result.undisturbed().seconds(),
                steps(result.undisturbed(), scale, TOP), second - 12, result.disturbed().seconds(),
                steps(result.disturbed(), scale, second), recoveries(result, scale, second),
                faults(result.disturbed(), scale, second));
    }

    private static String steps(RunRecord run, double scale, int y) {
        StringBuilder svg = new StringBuilder();
        long start = start(run);
        for (CommittedStep step : run.steps()) {
            svg.append(box(step.step() % 2 == 0 ? "step" : "step odd", step.startedMillis() - start,
                    step.committedMillis() - start, scale, y, ROW,
                    String.format(Locale.ROOT, "step %d: %.0f ms", step.step(), 1000 * step.seconds())));
        }
        return svg.toString();
    }

    private static String recoveries(ChaosResult result, double scale, int y) {
        StringBuilder svg = new StringBuilder();
        long start = start(result.disturbed());
        result.faults().forEach(outcome -> outcome.recovery().ifPresent(recovery -> svg.append(
                box("detect", outcome.fired().orElseThrow().timeMillis() - start,
                        recovery.detectedAtMillis() - start, scale, y + ROW, 8, "until detected"))));
        for (Recovery recovery : result.disturbed().recoveries()) {
            String words = "epoch " + recovery.epoch() + ", step " + recovery.step() + ", ranks " + recovery.ranks()
                    + ": " + recovery.reason();
            svg.append(box("restart", recovery.detectedAtMillis() - start, recovery.resumedAtMillis() - start, scale,
                    y + ROW, 8, words));
            svg.append(box("replay", recovery.resumedAtMillis() - start, recovery.caughtUpAtMillis() - start, scale,
                    y + ROW, 8, words));
        }
        return svg.toString();
    }

    private static String faults(RunRecord run, double scale, int y) {
        StringBuilder svg = new StringBuilder();
        for (FiredFault fired : run.fired()) {
            double x = (fired.timeMillis() - start(run)) / 1000.0 * scale;
            svg.append(String.format(Locale.ROOT,
                    "<path class=\"fault\" d=\"M%.1f %d l-5 -9 l10 0 z\"><title>%s</title></path>", x, y - 1,
                    Html.escape(fired.fault())));
        }
        return svg.toString();
    }

    private static long start(RunRecord run) {
        return run.steps().isEmpty() ? 0 : run.steps().getFirst().startedMillis();
    }

    private static String box(String kind, long fromMillis, long toMillis, double scale, int y, int height,
            String words) {
        return String.format(Locale.ROOT,
                "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"><title>%s</title></rect>", kind,
                fromMillis / 1000.0 * scale, y, Math.max(1, (toMillis - fromMillis) / 1000.0 * scale), height,
                Html.escape(words));
    }
}
