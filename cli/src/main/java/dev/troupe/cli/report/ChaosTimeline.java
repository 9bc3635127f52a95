package dev.troupe.cli.report;

import dev.troupe.look.chaos.ChaosResult;
import dev.troupe.look.chaos.CommittedStep;
import dev.troupe.look.chaos.FaultOutcome;
import dev.troupe.look.chaos.RunRecord;
import dev.troupe.rank.fault.FiredFault;
import dev.troupe.run.news.Recovery;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The drawing of both runs over one time axis, as SVG as wide as the page. Horizontal positions are percentages, so that
 * letters keep their size on a phone. Elements for wide screens only have the class {@code wide}.
 */
final class ChaosTimeline {
    /** The style of the classes below. */
    static final String STYLE = """
            svg.time { display: block; width: 100%; overflow: visible; }
            svg.time text { font: 11px system-ui, sans-serif; fill: currentColor; }
            .step { fill: #9dbbe0; } .odd { fill: #3b6fb6; } .grid { stroke: var(--line); }
            .detect { fill: #c0392b; stroke: #c0392b; } .restart { fill: #e67e22; stroke: #e67e22; }
            .replay { fill: #f1c40f; stroke: #f1c40f; } .fault { stroke: #c0392b; }
            svg.time text { paint-order: stroke; stroke: Canvas; stroke-width: 3px; }
            .mark { fill: #c0392b; } svg.time text.number { stroke: none; } svg.time text.number { fill: #fff; font-weight: 600; text-anchor: middle; }
            @media (max-width: 700px) { .wide { display: none; } }
            """;

    private static final int BAR = 26;
    private static final int LINE = 18;
    private static final int RECOVERY = 8;
    private static final int MOST_LANES = 8;
    private static final int TICKS = 10;
    /** Shares of the width: of the number of a fault on a phone, and of a letter of its name on a wide screen. */
    private static final double PERCENT_OF_NUMBER = 6;
    private static final double PERCENT_OF_LETTER = 0.6;
    private static final double PERCENT_BETWEEN_STEPS = 3;
    private static final double PERCENT_BETWEEN_STEPS_ON_A_PHONE = 10;

    private final ChaosResult result;
    private final double longestSeconds;
    private final StringBuilder svg = new StringBuilder();

    private ChaosTimeline(ChaosResult result, double longestSeconds) {
        this.result = result;
        this.longestSeconds = longestSeconds;
    }

    /** Returns the drawing; empty if neither run has a step. */
    static String of(ChaosResult result) {
        double longest = Math.max(result.undisturbed().seconds(), result.disturbed().seconds());
        return longest == 0 ? "" : new ChaosTimeline(result, longest).draw();
    }

    private String draw() {
        List<FiredFault> fired = result.faults().stream().flatMap(outcome -> outcome.fired().stream()).toList();
        int[] lanes = lanes(fired);
        int laneCount = fired.isEmpty() ? 0 : 1 + Arrays.stream(lanes).max().orElse(0);
        int first = LINE;
        int second = first + BAR + 3 * LINE + laneCount * LINE;
        int bottom = second + BAR + RECOVERY + LINE + 4;
        axis(bottom);
        run("undisturbed", result.undisturbed(), first, first);
        run("disturbed", result.disturbed(), second - laneCount * LINE - 10, second);
        recoveries(second + BAR);
        // Lines first, so that no line crosses a name.
        for (int number = 0; number < fired.size(); number++) {
            double x = percent(fired.get(number).timeMillis() - start(result.disturbed()));
            add("<line class=\"fault\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/>", x, x,
                    second - (lanes[number] + 1) * LINE, second + BAR);
        }
        for (int number = 0; number < fired.size(); number++) {
            marker(fired.get(number), number + 1, second - (lanes[number] + 1) * LINE);
        }
        return "<svg class=\"time\" xmlns=\"http://www.w3.org/2000/svg\" height=\"" + (bottom + 2 * LINE) + "\">" + svg
                + "</svg>";
    }

    /** Returns the line of each fault above the bar, so that no name hides another. */
    private int[] lanes(List<FiredFault> fired) {
        double[] takenTo = new double[MOST_LANES];
        int[] lanes = new int[fired.size()];
        for (int i = 0; i < lanes.length; i++) {
            double x = percent(fired.get(i).timeMillis() - start(result.disturbed()));
            double width = Math.max(PERCENT_OF_NUMBER, PERCENT_OF_LETTER * (name(fired.get(i)).length() + 5));
            double from = isFarRight(x) ? x - width : x;
            int lane = 0;
            while (lane < MOST_LANES - 1 && takenTo[lane] > from) {
                lane++;
            }
            lanes[i] = lane;
            takenTo[lane] = from + width;
        }
        return lanes;
    }

    private void axis(int y) {
        double tick = roundUp(longestSeconds / TICKS);
        for (int i = 0; i * tick <= longestSeconds * 1.0001; i++) {
            double x = percent(Math.round(1000 * i * tick));
            String isWide = i % 3 == 0 ? "" : " wide";
            add("<line class=\"grid%s\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"%d\" y2=\"%d\"/>", isWide, x, x, LINE, y);
            add("<text class=\"tick%s\" x=\"%.2f%%\" y=\"%d\" text-anchor=\"%s\">%s s</text>", isWide, x, y + 13,
                    x < 3 ? "start" : x > 95 ? "end" : "middle", plain(i * tick));
        }
        add("<text x=\"0\" y=\"%d\">time since the first step of each run began</text>", y + 13 + LINE);
    }

    private void run(String name, RunRecord run, int headline, int y) {
        add("<text x=\"0\" y=\"%d\">%s: %.2f s, %d steps%s</text>", headline - 6, name, run.seconds(),
                run.losses().size(), run.stepsLost() == 0 ? "" : ", " + run.stepsLost() + " of them twice");
        long start = start(run);
        Map<Long, CommittedStep> last = new TreeMap<>();
        for (CommittedStep step : run.steps()) {
            box(step.step() % 2 == 0 ? "step" : "step odd", step.startedMillis() - start,
                    step.committedMillis() - start, y, BAR,
                    String.format(Locale.ROOT, "step %d: %.0f ms", step.step(), 1000 * step.seconds()));
            last.put(step.step(), step);
        }
        int below = y + BAR + (run == result.disturbed() ? RECOVERY : 0) + 13;
        double wide = -PERCENT_BETWEEN_STEPS;
        double narrow = -PERCENT_BETWEEN_STEPS_ON_A_PHONE;
        for (CommittedStep step : last.values()) {
            double x = percent((step.startedMillis() + step.committedMillis()) / 2 - start);
            if (x - wide < PERCENT_BETWEEN_STEPS) {
                continue;
            }
            boolean isFirst = wide < 0;
            wide = x;
            boolean isOnPhones = x - narrow >= PERCENT_BETWEEN_STEPS_ON_A_PHONE;
            narrow = isOnPhones ? x : narrow;
            add("<text%s x=\"%.2f%%\" y=\"%d\" text-anchor=\"%s\">%s%d</text>",
                    isOnPhones ? "" : " class=\"wide\"", x, below, isFirst && x < 6 ? "start" : "middle",
                    isFirst ? "step " : "", step.step());
        }
    }

    private void recoveries(int y) {
        long start = start(result.disturbed());
        for (FaultOutcome outcome : result.faults()) {
            outcome.recovery().ifPresent(recovery -> box("detect",
                    outcome.fired().orElseThrow().timeMillis() - start, recovery.detectedAtMillis() - start, y,
                    RECOVERY,
                    "until detected"));
        }
        for (Recovery recovery : result.disturbed().recoveries()) {
            String words = "epoch " + recovery.epoch() + ", step " + recovery.step() + ", ranks " + recovery.ranks()
                    + ": " + recovery.reason();
            box("restart", recovery.detectedAtMillis() - start, recovery.resumedAtMillis() - start, y, RECOVERY, words);
            box("replay", recovery.resumedAtMillis() - start, recovery.caughtUpAtMillis() - start, y, RECOVERY, words);
        }
    }

    private void marker(FiredFault fired, int number, int y) {
        double x = percent(fired.timeMillis() - start(result.disturbed()));
        add("<g><title>%s</title><circle class=\"mark\" cx=\"%.2f%%\" cy=\"%d\" r=\"8\"/>",
                Html.escape(number + ": " + fired.fault()), x, y);
        add("<text class=\"number\" x=\"%.2f%%\" y=\"%d\">%d</text>", x, y + 4, number);
        add("<text class=\"wide\" x=\"%.2f%%\" y=\"%d\" dx=\"%d\" text-anchor=\"%s\">%s</text></g>", x, y + 4,
                isFarRight(x) ? -12 : 12, isFarRight(x) ? "end" : "start", Html.escape(name(fired)));
    }

    private static String name(FiredFault fired) {
        return fired.fault().split(" ")[0];
    }

    private static boolean isFarRight(double percent) {
        return percent > 85;
    }

    private static long start(RunRecord run) {
        return run.steps().isEmpty() ? 0 : run.steps().getFirst().startedMillis();
    }

    private void box(String kind, long fromMillis, long toMillis, int y, int height, String words) {
        add("<rect class=\"%s\" x=\"%.2f%%\" y=\"%d\" width=\"%.2f%%\" height=\"%d\"><title>%s</title></rect>", kind,
                percent(fromMillis), y, percent(Math.max(0, toMillis - fromMillis)), height, Html.escape(words));
    }

    private double percent(long millis) {
        return millis / 10.0 / longestSeconds;
    }

    /** Returns the smallest number of the form 1, 2 or 5 times a power of ten that is at least {@code least}. */
    private static double roundUp(double least) {
        double power = Math.pow(10, Math.floor(Math.log10(Math.max(least, 1e-3))));
        for (double times : List.of(1.0, 2.0, 5.0)) {
            if (times * power >= least * 0.9999) {
                return times * power;
            }
        }
        return 10 * power;
    }

    private static String plain(double seconds) {
        return new BigDecimal(String.format(Locale.ROOT, "%.3f", seconds)).stripTrailingZeros()
                .toPlainString();
    }

    private void add(String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values));
    }
}
