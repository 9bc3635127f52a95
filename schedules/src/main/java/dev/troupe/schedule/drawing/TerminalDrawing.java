package dev.troupe.schedule.drawing;

import dev.troupe.schedule.Kind;
import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;
import java.util.List;

/**
 * A timeline for the terminal: a line a rank, to the scale of time. With colours an action is a bar with its microbatch on
 * it; without, a word and a line of its length, and a bubble is empty. An {@code @} precedes the version of the weights that
 * an action reads, if it names one. A drawing wider than the terminal is folded into a few parts, so that actions keep their
 * stages and microbatches.
 *
 * <pre>
 * 1f1b: 12 units; bubble 100% of ideal time, 50% of total
 * rank 0 F0--F1--                    B0------    B1------
 * rank 1     F0--F1--        B0------    B1------
 * rank 2         F0--B0------F1--B1------
 * </pre>
 */
public final class TerminalDrawing {
    /** Fewest columns of the shortest action, if they fit. */
    private static final int LEAST_UNIT = 4;
    /** Most parts into which a drawing is folded; if more were needed, actions lose their numbers instead. */
    private static final int MOST_PARTS = 6;
    private static final String RESET = "\u001b[0m";

    private final Timeline timeline;
    private final TimeScale scale;
    private final boolean colour;
    private final int nameWidth;
    private final double columnsPerNano;
    private final int columnsPerPart;

    private TerminalDrawing(Timeline timeline, TimeScale scale, int columns, boolean colour) {
        this.timeline = timeline;
        this.scale = scale;
        this.colour = colour;
        this.nameWidth = name(timeline.rankCount() - 1).length() + 1;
        int room = Math.max(1, columns - nameWidth);
        long end = Math.max(1, timeline.endNanos());
        long shortest = timeline.spans().stream().filter(span -> span.action().kind().isCompute())
                .mapToLong(Span::nanos).filter(nanos -> nanos > 0).min().orElse(end);
        int unit = unit(timeline);
        if ((double) unit * end / shortest <= (double) MOST_PARTS * room && unit <= room) {
            this.columnsPerNano = (double) unit / shortest;
            int units = (int) Math.ceilDiv(end, shortest);
            int parts = Math.ceilDiv(units, room / unit); // rounded down: a part ends where an action may
            this.columnsPerPart = Math.ceilDiv(units, parts) * unit;
        } else {
            // Whole columns for the shortest action if they fit, so that actions of the same length look the same.
            long narrow = room * shortest / end; // rounded down: it must fit
            this.columnsPerNano = narrow >= 1 ? (double) narrow / shortest : (double) room / end;
            this.columnsPerPart = room;
        }
    }

    /** Returns the columns of the shortest action in which the longest text fits and leaves one free. */
    private static int unit(Timeline timeline) {
        return Math.max(LEAST_UNIT, 1 + timeline.spans().stream().filter(span -> span.action().kind().isCompute())
                .mapToInt(span -> whole(timeline, span).length()).max().orElse(0));
    }

    public static boolean fits(Timeline timeline, int columns) {
        TerminalDrawing drawing = new TerminalDrawing(timeline, TimeScale.UNITS, columns, false);
        return drawing.column(timeline.endNanos()) <= drawing.columnsPerPart
                && timeline.spans().stream().filter(span -> span.action().kind().isCompute() && span.nanos() > 0)
                        .allMatch(span -> drawing.column(span.endNanos()) - drawing.column(span.startNanos()) > whole(
                                timeline, span).length());
    }

    /**
     * Draws a timeline.
     *
     * @param columns width of the terminal; no line is longer
     * @param colour whether to use 24-bit colour codes
     */
    public static String draw(Timeline timeline, TimeScale scale, int columns, boolean colour) {
        return new TerminalDrawing(timeline, scale, columns, colour).draw();
    }

    private String draw() {
        StringBuilder text = new StringBuilder(Caption.of(timeline, scale));
        int end = column(timeline.endNanos());
        int from = 0;
        do {
            if (from > 0) {
                text.append("\n\nfrom ").append(scale.text(Math.round(from / columnsPerNano))).append(" on:");
            }
            for (int rank = 0; rank < timeline.rankCount(); rank++) {
                text.append('\n').append(line(rank, from));
            }
            from += columnsPerPart;
        } while (from < end);
        return text.toString();
    }

    /** Returns a rank's line of the part from this column; an action that began in the part before has no label. */
    private String line(int rank, int from) {
        StringBuilder line = new StringBuilder(name(rank));
        line.append(" ".repeat(nameWidth - line.length()));
        int column = from;
        for (Span span : timeline.spansOf(rank)) {
            int begin = column(span.startNanos());
            int start = Math.max(column, begin);
            int end = Math.min(from + columnsPerPart, column(span.endNanos()));
            if (span.action().kind().isCompute() && end > start) {
                line.append(" ".repeat(start - column)).append(bar(span, end - start, begin < from));
                column = end;
            }
        }
        return line.toString().stripTrailing();
    }

    private int column(long nanos) {
        return (int) Math.round(nanos * columnsPerNano);
    }

    private String bar(Span span, int width, boolean goesOn) {
        String label = goesOn ? "" : label(span, width);
        if (!colour) {
            return label + "-".repeat(width - label.length());
        }
        Shade shade = Shade.of(span.action(), timeline.rankCount());
        return code(48, shade.fill()) + code(38, shade.text()) + label + " ".repeat(width - label.length()) + RESET;
    }

    /** Returns the longest text that leaves a column free; at least the kind. */
    private String label(Span span, int width) {
        String kind = span.action().kind().letter();
        for (String label : List.of(whole(timeline, span), kind + span.action().microbatch())) {
            if (label.length() < width) {
                return label;
            }
        }
        return kind;
    }

    /** Returns the whole text of an action; with several stages on a rank it has the stage too. */
    private static String whole(Timeline timeline, Span span) {
        Kind kind = span.action().kind();
        String text = span.action().toString().replace(kind.code(), kind.letter());
        return timeline.stageCount() > timeline.rankCount() ? text : text.substring(text.indexOf(kind.letter()));
    }

    private static String code(int ground, int colour) {
        return "\u001b[" + ground + ";2;" + (colour >> 16) + ";" + (colour >> 8 & 255) + ";" + (colour & 255) + "m";
    }

    private static String name(int rank) {
        return "rank " + rank;
    }
}
