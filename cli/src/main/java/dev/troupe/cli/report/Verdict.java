package dev.troupe.cli.report;

import dev.troupe.config.RunSpec;
import dev.troupe.look.compare.ScheduleOutcome;
import dev.troupe.look.figure.PairedRatio;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The result of a comparison.
 *
 * @param sentence names the best schedule, or the schedules that do not differ
 * @param remark advice; may be empty
 */
public record Verdict(String sentence, String remark) {
    /**
     * Compares times. On the emulated engine, bubbles decide between different numbers of virtual stages, since more stages
     * do more work there.
     */
    public static Verdict of(RunSpec spec, List<ScheduleOutcome> outcomes) {
        ScheduleOutcome first = outcomes.getFirst();
        if (isTold(spec, first) && outcomes.stream()
                .anyMatch(outcome -> outcome.contestant().virtualStages() != first.contestant().virtualStages())) {
            return byBubble(outcomes);
        }
        List<ScheduleOutcome> byTime = outcomes.stream()
                .sorted(Comparator.comparingDouble(outcome -> outcome.measured().stepSeconds())).toList();
        ScheduleOutcome best = byTime.getFirst();
        if (outcomes.size() == 1) {
            return new Verdict(String.format(Locale.ROOT, "%s took %.1f ms a step.", label(best),
                    1000 * best.measured().stepSeconds()), "");
        }
        List<ScheduleOutcome> alike = byTime.stream().filter(outcome -> !outcome.ratioTo(best).isApart()).toList();
        if (alike.size() > 1) {
            String others = byTime.size() == alike.size()
                    ? ""
                    : "; " + names(byTime.stream().filter(outcome -> !alike.contains(outcome)).toList())
                            + " took longer";
            return new Verdict(
                    names(alike) + " cannot be told apart: in some rounds one is faster, in some another" + others
                            + ".",
                    "More --repeats or --steps, or a quieter machine, may part them.");
        }
        ScheduleOutcome next = byTime.get(1);
        PairedRatio ratio = best.ratioTo(next);
        return new Verdict(
                String.format(Locale.ROOT,
                        "%s was the fastest: %.1f %% less time a step than %s, the next (%.1f to %.1f %%, turn by turn).",
                        label(best), 100 * (1 - ratio.median()), label(next), 100 * (1 - ratio.high()),
                        100 * (1 - ratio.low())),
                "");
    }

    private static Verdict byBubble(List<ScheduleOutcome> outcomes) {
        ScheduleOutcome best = outcomes.stream()
                .min(Comparator.comparingDouble(outcome -> outcome.measured().bubbleOverIdeal())).orElseThrow();
        return new Verdict(
                String.format(Locale.ROOT, "%s had the smallest bubble: %.1f %% of the ideal time.", label(best),
                        100 * best.measured().bubbleOverIdeal()),
                "Each stage takes the configured time, so that V stages on a rank do V times the work of one: compare"
                        + " bubbles here, or set engine.emulated.device-flops to compare times.");
    }

    private static boolean isTold(RunSpec spec, ScheduleOutcome outcome) {
        return outcome.engine().equals("emulated") && spec.engine().emulated().deviceFlops() == 0;
    }

    private static String names(List<ScheduleOutcome> outcomes) {
        String all = outcomes.stream().map(Verdict::label).collect(Collectors.joining("; "));
        return all.contains(",") ? all : all.replace("; ", ", ").replaceFirst(", ([^,]*)$", " and $1");
    }

    private static String label(ScheduleOutcome outcome) {
        return outcome.contestant().label();
    }
}
