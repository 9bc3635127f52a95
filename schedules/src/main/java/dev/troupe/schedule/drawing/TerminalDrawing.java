package dev.troupe.schedule.drawing;

import java.util.List;

import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;

/**
 * A timeline for the terminal: a line a rank, to the scale of time. With colours an action is a bar with its microbatch on
 * it; without, a word and a line as long as it takes, and a bubble is empty.
 *
 * <pre>
 * 1f1b: 12 units; bubble 100% of ideal time, 50% of total
 * rank 0 F0--F1--                    B0------    B1------
 * rank 1     F0--F1--        B0------    B1------
 * rank 2         F0--B0------F1--B1------
 * </pre>
 */
public final class TerminalDrawing {
    /** Columns of the shortest action where there is room: enough for kind and microbatch of most. */
    private static final int WIDEST_UNIT = 4;
    private static final String RESET = "\u001b[0m";

    private final Timeline timeline;
    private final TimeScale scale;
    private final boolean colour;
    private final double columnsPerNano;
    private final int nameWidth;

    private TerminalDrawing(Timeline timeline, TimeScale scale, int columns, boolean colour) {
        this.timeline = timeline;
        this.scale = scale;
        this.colour = colour;
        this.nameWidth = name(timeline.rankCount() - 1).length() + 1;
        this.columnsPerNano = columnsPerNano(timeline, Math.max(1, columns - nameWidth));
    }

    /** Whole columns for the shortest action if that fits, so that actions of a length look so. */
    private static double columnsPerNano(Timeline timeline, int columns) {
        long end = Math.max(1, timeline.endNanos());
        long shortest = timeline.spans().stream().filter(span -> !span.action().kind().isMessage())
                .mapToLong(Span::nanos).filter(nanos -> nanos > 0).min().orElse(end);
        long unit = Math.min(WIDEST_UNIT, columns * shortest / end); // rounded down: it must fit
        return unit >= 1 ? (double) unit / shortest : (double) columns / end;
    }

    /**
     * Draws a timeline.
     *
     * @param columns width of the terminal; no line is longer
     * @param colour whether to use 24-bit colour codes
     * @return lines without a line feed at the end
     */
    public static String draw(Timeline timeline, TimeScale scale, int columns, boolean colour) {
        return new TerminalDrawing(timeline, scale, columns, colour).draw();
    }

    private String draw() {
        StringBuilder text = new StringBuilder(Caption.of(timeline, scale));
        for (int rank = 0; rank < timeline.rankCount(); rank++) {
            StringBuilder line = new StringBuilder(name(rank));
            line.append(" ".repeat(nameWidth - line.length()));
            int column = 0;
            for (Span span : timeline.spansOf(rank)) {
                if (span.action().kind().isMessage()) {
                    continue;
                }
                int start = Math.max(column, column(span.startNanos()));
                int end = Math.max(start, column(span.endNanos()));
                line.append(" ".repeat(start - column)).append(bar(span, end - start));
                column = end;
            }
            text.append('\n').append(line.toString().stripTrailing());
        }
        return text.toString();
    }

    private int column(long nanos) {
        return (int) Math.round(nanos * columnsPerNano);
    }

    private String bar(Span span, int width) {
        if (width == 0) {
            return "";
        }
        String label = label(span, width);
        if (!colour) {
            return label + "-".repeat(width - label.length());
        }
        Shade shade = Shade.of(span.action().kind(), span.action().stage() / timeline.rankCount()); // rounded down
        return code(48, shade.fill()) + code(38, shade.text()) + label + " ".repeat(width - label.length()) + RESET;
    }

    /** The longest text that leaves a column free, or at least the kind. */
    private String label(Span span, int width) {
        String kind = span.action().kind().code();
        String whole = timeline.stageCount() > timeline.rankCount()
                ? span.action().toString()
                : kind + span.action().microbatch();
        for (String label : List.of(whole, kind + span.action().microbatch())) {
            if (label.length() < width) {
                return label;
            }
        }
        return kind;
    }

    private static String code(int ground, int colour) {
        return "\u001b[" + ground + ";2;" + (colour >> 16) + ";" + (colour >> 8 & 255) + ";" + (colour & 255) + "m";
    }

    private static String name(int rank) {
        return "rank " + rank;
    }
}
