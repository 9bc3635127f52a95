package dev.troupe.schedule.drawing;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Timelines as one SVG file that needs no other file: a bar for each action to the scale of time, with the microbatch on it,
 * and a band for each rank in which the bubble shows. Several timelines have the same axis, one under the other, to compare
 * a prediction with a measurement by eye. The colours are light or dark, following the reader's system.
 */
public final class SvgDrawing {
    /** Width of the shortest action if the whole is not too wide: two digits fit. */
    private static final double PIXELS_PER_SHORTEST = 14;
    private static final double NARROWEST = 640;
    /** Largest width of a single drawing: about two screens. */
    private static final double WIDEST = 3684;
    private static final double NAME_WIDTH = 52;
    private static final double MARGIN = 16;
    private static final double ROW_HEIGHT = 24;
    private static final double BAR_HEIGHT = 20;
    private static final double HEADING_HEIGHT = 30;
    private static final double LEGEND_HEIGHT = 30;
    private static final double AXIS_HEIGHT = 34;
    private static final double DIGIT_WIDTH = 5.6;
    /** With more actions the tooltips would make the file too large. */
    private static final int MOST_TIPS = 8_000;

    private final List<Timeline> timelines;
    private final TimeScale scale;
    private final long end;
    private final double plotWidth;
    private final boolean tips;
    private final StringBuilder svg = new StringBuilder();

    private SvgDrawing(List<Timeline> timelines, List<Timeline> comparable, TimeScale scale, double widest) {
        this.timelines = timelines;
        this.scale = scale;
        this.end = Math.max(1, comparable.stream().mapToLong(Timeline::endNanos).max().orElse(1));
        this.plotWidth = plotWidth(comparable, end, widest - NAME_WIDTH - 2 * MARGIN);
        this.tips = timelines.stream().mapToInt(timeline -> timeline.spans().size()).sum() <= MOST_TIPS;
    }

    /** Draws timelines under each other. */
    public static String draw(List<Timeline> timelines, TimeScale scale) {
        return new SvgDrawing(List.copyOf(timelines), timelines, scale, WIDEST).draw();
    }

    /**
     * Draws timelines under each other.
     *
     * @param comparable all timelines of the page, including these: one axis fits them all, so that drawings can be compared
     * @param widest pixels of the page; bars become narrower to fit, and lose their numbers
     */
    public static String draw(List<Timeline> timelines, List<Timeline> comparable, TimeScale scale, double widest) {
        return new SvgDrawing(List.copyOf(timelines), comparable, scale, widest).draw();
    }

    /**
     * Returns the width of the plot by a short action (10th percentile), since a measured step has some that are far
     * shorter.
     */
    private static double plotWidth(List<Timeline> timelines, long end, double widest) {
        long[] sorted = timelines.stream().flatMap(timeline -> timeline.spans().stream())
                .filter(span -> span.action().kind().isCompute()).mapToLong(Span::nanos).sorted().toArray();
        long shortest = sorted.length == 0 ? end : Math.max(1, sorted[sorted.length / 10]); // rounded down
        return Math.clamp(PIXELS_PER_SHORTEST * end / shortest, Math.min(NARROWEST, widest), widest);
    }

    private String draw() {
        double height = LEGEND_HEIGHT;
        for (Timeline timeline : timelines) {
            height += HEADING_HEIGHT + timeline.rankCount() * ROW_HEIGHT + AXIS_HEIGHT;
        }
        double width = NAME_WIDTH + plotWidth + 2 * MARGIN;
        svg.append("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"troupe\" width=\"").append(number(width))
                .append("\" height=\"").append(number(height)).append("\" viewBox=\"0 0 ").append(number(width))
                .append(' ').append(number(height)).append("\" role=\"img\">\n");
        addStyle();
        svg.append("<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n");
        addLegend();
        double top = LEGEND_HEIGHT;
        for (Timeline timeline : timelines) {
            addTimeline(timeline, top);
            top += HEADING_HEIGHT + timeline.rankCount() * ROW_HEIGHT + AXIS_HEIGHT;
        }
        return svg.append("</svg>\n").toString();
    }

    private void addStyle() {
        svg.append("<style>\n.troupe text{font:11px system-ui,sans-serif;fill:#1b1f24}\n"
                + ".troupe .label{font-size:9.5px;text-anchor:middle}\n.troupe .tick{text-anchor:middle;fill:#57606a}\n"
                + ".troupe .heading{font-size:13px;font-weight:600}\n.troupe .numbers{font-weight:400}\n"
                + ".troupe .page{fill:#ffffff}\n.troupe .idle{fill:#eceff2}\n.troupe .line{stroke:#c4cad0}\n");
        for (Shade shade : shades()) {
            svg.append(".troupe .").append(shade.code()).append("{fill:").append(shade.cssFill()).append("}.troupe .on")
                    .append(shade.code()).append("{fill:").append(shade.cssText()).append("}\n");
        }
        svg.append("@media (prefers-color-scheme:dark){.troupe text{fill:#e6e9ed}.troupe .tick{fill:#9aa4af}"
                + ".troupe .page{fill:#15181c}.troupe .idle{fill:#262b31}.troupe .line{stroke:#414850}");
        for (Shade shade : shades()) {
            svg.append(".troupe .on").append(shade.code()).append("{fill:").append(shade.cssText()).append('}');
        }
        svg.append("}\n</style>\n");
    }

    /** Returns the shades that are in use, by kind and lap. */
    private List<Shade> shades() {
        List<Shade> shades = new ArrayList<>();
        for (Kind kind : Kind.values()) {
            for (int lap = 0; lap < Shade.LAPS && kind.isCompute(); lap++) {
                Shade shade = Shade.of(kind, lap);
                if (timelines.stream().anyMatch(timeline -> uses(timeline, shade))) {
                    shades.add(shade);
                }
            }
        }
        return shades;
    }

    private static boolean uses(Timeline timeline, Shade shade) {
        return timeline.spans().stream()
                .anyMatch(span -> span.action().kind().isCompute() && shade(timeline, span.action()).equals(shade));
    }

    private static Shade shade(Timeline timeline, Action action) {
        return Shade.of(action, timeline.rankCount());
    }

    private void addLegend() {
        double x = MARGIN + NAME_WIDTH;
        List<Shade> shades = shades();
        for (int i = 0; i < shades.size(); i++) {
            addBar(shades.get(i).code(), x, 10, 14, 14, "");
            x += 16;
            char kind = shades.get(i).code().charAt(0);
            if (i + 1 == shades.size() || shades.get(i + 1).code().charAt(0) != kind) { // the last shade of its kind
                x = addLegendText(name(kind), x + 4);
            }
        }
        int laps = timelines.stream().mapToInt(timeline -> timeline.stageCount() / timeline.rankCount()).max()
                .orElse(1);
        if (laps > 1) {
            addLegendText("(lighter: later laps over the ranks)", x);
        }
    }

    /** Adds an entry; returns the beginning of the next one. */
    private double addLegendText(String text, double x) {
        svg.append("<text x=\"").append(number(x)).append("\" y=\"21\">").append(text).append("</text>\n");
        return x + 16 + DIGIT_WIDTH * text.length();
    }

    private static String name(char code) {
        return switch (code) {
            case 'F' -> "forward";
            case 'B' -> "backward";
            case 'I' -> "backward, input";
            case 'R' -> "forward again";
            default -> "backward, weights";
        };
    }

    private void addTimeline(Timeline timeline, double top) {
        svg.append("<text class=\"heading\" x=\"").append(number(MARGIN)).append("\" y=\"").append(number(top + 18))
                .append("\">").append(escape(timeline.title())).append("<tspan class=\"numbers\" dx=\"10\">")
                .append(escape(Caption.numbers(timeline, scale))).append("</tspan></text>\n");
        double bottom = top + HEADING_HEIGHT + timeline.rankCount() * ROW_HEIGHT;
        addAxis(bottom);
        for (int rank = 0; rank < timeline.rankCount(); rank++) {
            addRank(timeline, rank, top + HEADING_HEIGHT + rank * ROW_HEIGHT);
        }
    }

    private void addRank(Timeline timeline, int rank, double y) {
        svg.append("<text x=\"").append(number(MARGIN)).append("\" y=\"").append(number(y + 15)).append("\">rank ")
                .append(rank).append("</text>\n");
        addBar("idle", x(0), y, x(timeline.endNanos()) - x(0), BAR_HEIGHT, "");
        for (Span span : timeline.spansOf(rank)) {
            if (span.action().kind().isCompute()) {
                addSpan(timeline, span, y);
            }
        }
    }

    private void addSpan(Timeline timeline, Span span, double y) {
        Shade shade = shade(timeline, span.action());
        double left = x(span.startNanos());
        double whole = x(span.endNanos()) - left;
        double width = whole - Math.min(1, whole / 10); // a gap separates bars; a thin one in thin bars, which would otherwise look idle
        String tip = tips
                ? "<title>" + span.action() + ", rank " + span.rank() + ": " + scale.text(span.startNanos()) + " to "
                        + scale.text(span.endNanos()) + "</title>"
                : "";
        addBar(shade.code(), left, y, width, BAR_HEIGHT, tip);
        String microbatch = Integer.toString(span.action().microbatch());
        String versioned = span.action().namesVersion() ? microbatch + "@" + span.action().version() : microbatch;
        String label = DIGIT_WIDTH * versioned.length() <= width ? versioned : microbatch;
        if (DIGIT_WIDTH * label.length() <= width) {
            svg.append("<text class=\"label on").append(shade.code()).append("\" x=\"").append(number(left + width / 2))
                    .append("\" y=\"").append(number(y + 14)).append("\">").append(label).append("</text>\n");
        }
    }

    private void addBar(String style, double x, double y, double width, double height, String inside) {
        svg.append("<rect class=\"").append(style).append("\" x=\"").append(number(x)).append("\" y=\"")
                .append(number(y)).append("\" width=\"").append(number(width)).append("\" height=\"")
                .append(number(height)).append('"').append(inside.isEmpty() ? "/>\n" : ">" + inside + "</rect>\n");
    }

    private void addAxis(double y) {
        double step = scale.tickNanos(end, (int) (plotWidth / 90));
        int ticks = (int) Math.floor(end / step + 1e-9);
        for (int tick = 0; tick <= ticks; tick++) {
            double x = x(tick * step);
            svg.append("<line class=\"line\" x1=\"").append(number(x)).append("\" x2=\"").append(number(x))
                    .append("\" y1=\"").append(number(y)).append("\" y2=\"").append(number(y + 5)).append("\"/>\n");
            svg.append("<text class=\"tick\" x=\"").append(number(x)).append("\" y=\"").append(number(y + 18))
                    .append("\">").append(TimeScale.number(tick * step / scale.nanosPerUnit()))
                    .append(tick == ticks ? " " + scale.unit() : "").append("</text>\n");
        }
    }

    private double x(double nanos) {
        return MARGIN + NAME_WIDTH + nanos / end * plotWidth;
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.2f", value).replaceAll("\\.?0+$", "");
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
