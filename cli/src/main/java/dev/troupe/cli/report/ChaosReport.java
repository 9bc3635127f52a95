package dev.troupe.cli.report;

import dev.troupe.config.RunSpec;
import dev.troupe.look.chaos.ChaosResult;
import dev.troupe.look.chaos.FaultOutcome;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A disturbed run next to the undisturbed one, as a self-contained page: the table, and both runs over time. */
public final class ChaosReport {
    private ChaosReport() {
    }

    public static String of(RunSpec spec, ChaosResult result) {
        String title = spec.name() + ": " + result.faults().size()
                + (result.faults().size() == 1 ? " fault" : " faults");
        String page = """
                <!DOCTYPE html>
                <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
                <title>%s</title><style>
                %s
                %s
                .badge { display: inline-block; min-width: 16px; border-radius: 8px; background: #c0392b; color: #fff;
                  font-size: 11px; line-height: 16px; font-weight: 600; text-align: center; margin-right: .4rem; }
                .missed { background: #888; }
                .key span { white-space: nowrap; }
                @media (max-width: 700px) {
                  .faults tr:first-child { display: none; }
                  .faults tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line); }
                  .faults td { display: block; border: 0; padding: .1rem 0; white-space: normal; }
                  .faults td[data-name]::before { content: attr(data-name) ": "; opacity: .7; }
                }
                </style></head><body>
                <h1>%s</h1>
                <p>%d ranks, %s, %d microbatches of %d a step. <b>%s</b></p>
                %s
                <h2>What struck, and what it took</h2>
                <div class="scroll"><table class="faults"><tr>%s</tr>%s</table></div>
                <p class="note">Detected: from the fault to the coordinator's hearing of it. Restarted: from there until the ranks
                that were restarted had their weights. Caught up: from there until they had done again what the others
                had done. Throughput: from the start of the first step to the end of the last; against %s.</p>
                <h2>Both runs over time</h2>
                <p class="key"><span><i style="background:#9dbbe0"></i><i style="background:#3b6fb6;margin-left:0"></i>steps</span> <span><i style="background:#c0392b"></i>until detected</span> <span><i style="background:#e67e22"></i>until restarted</span> <span><i style="background:#f1c40f"></i>until caught up</span> <span><b class="badge" style="margin-left:1rem">1</b>a fault, by its number in the table</span></p>
                %s
                </body></html>
                """;
        return String.format(Locale.ROOT, page, Html.escape(title), Html.STYLE, ChaosTimeline.STYLE, Html.escape(title),
                spec.parallel().worldSize(), Html.escape(spec.parallel().schedule()), spec.microbatchCount(),
                spec.training().microbatchSize(), Html.escape(ChaosTable.summary(result)), missed(result),
                ChaosTable.HEADINGS.stream().map(heading -> "<th>" + heading + "</th>")
                        .collect(Collectors.joining()),
                rows(result.faults()), result.kept().basis().words(), ChaosTimeline.of(result));
    }

    private static String missed(ChaosResult result) {
        return ChaosTable.reasons(result).stream().map(reason -> "<p>" + Html.escape(reason) + "</p>")
                .collect(Collectors.joining("\n"));
    }

    /** Returns the rows: first the faults that struck, by number. */
    private static String rows(List<FaultOutcome> faults) {
        StringBuilder rows = new StringBuilder();
        for (int number = 1; number <= faults.size(); number++) {
            FaultOutcome fault = faults.get(number - 1);
            List<String> cells = ChaosTable.cells(fault);
            String badge = fault.fired().isPresent()
                    ? "<b class=\"badge\">" + number + "</b>"
                    : "<b class=\"badge missed\">-</b>";
            rows.append("<tr><td>").append(badge).append(Html.escape(cells.getFirst())).append("</td>");
            for (int column = 1; column < cells.size(); column++) {
                rows.append("<td data-name=\"").append(ChaosTable.HEADINGS.get(column)).append("\">")
                        .append(Html.escape(cells.get(column))).append("</td>");
            }
            rows.append("</tr>\n");
        }
        return rows.toString();
    }
}
