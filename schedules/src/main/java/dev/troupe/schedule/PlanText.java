package dev.troupe.schedule;

import java.util.BitSet;
import java.util.List;

/**
 * The grid of a plan for the terminal: a line for each rank, a column for each position (not a time). Marked places are in
 * brackets, with an arrow and a caption under them; a pair that overlaps is in parentheses. Plans wider than the line are
 * drawn in several blocks. Of a large grid with marks only the marked places and their neighbours are drawn, since it is
 * part of a message.
 *
 * <pre>
 * by hand: 2 ranks, 2 stages, 2 microbatches
 *         0     1     2     3
 * rank 0  0F0   0F1   0B0   0B1
 * rank 1  1F0  [1F1]  1B0   1B1
 *               ^^^ too early
 * </pre>
 */
public final class PlanText {
    private static final int LINE_WIDTH = 120;
    /** The most lines of a grid with marks that is drawn as a whole: some screens. */
    private static final int MOST_LINES = 200;
    private static final int MOST_MARKS = 16;
    /** Rows above and below a marked place that are drawn with it. */
    private static final int NEIGHBOURS = 2;

    private final Plan plan;
    private final List<Mark> marks;
    private final int nameWidth;
    private final int cellWidth;
    private final int perBlock;
    private final boolean isWhole;
    private final StringBuilder text = new StringBuilder();

    private PlanText(Plan plan, List<Mark> marks) {
        this.plan = plan;
        this.nameWidth = rankName(plan.rankCount() - 1).length() + 1;
        int longest = plan.rows().stream().flatMap(List::stream).mapToInt(action -> action.toString().length()).max()
                .orElse(1);
        this.cellWidth = longest + 3; // two brackets and a blank
        this.perBlock = Math.max(1, (LINE_WIDTH - nameWidth) / cellWidth); // rounded down: whole cells only
        long lines = (1L + plan.rankCount()) * Math.ceilDiv(columns(marks), perBlock) + marks.size();
        this.isWhole = marks.isEmpty() || lines <= MOST_LINES;
        this.marks = isWhole ? marks : marks.subList(0, Math.min(marks.size(), MOST_MARKS));
    }

    /** Returns the whole grid without marks. */
    public static String grid(Plan plan) {
        return grid(plan, List.of());
    }

    /**
     * Returns the grid with the places marked, without a line feed at the end. It is the whole grid, or, if that has
     * hundreds of lines, the neighbours of the first marks.
     */
    public static String grid(Plan plan, List<Mark> marks) {
        return new PlanText(plan, marks).draw();
    }

    private String draw() {
        text.append(plan.name()).append(": ").append(Plan.count(plan.rankCount(), "rank")).append(", ")
                .append(Plan.count(plan.stageCount(), "stage")).append(", ")
                .append(Plan.count(plan.microbatchCount(), "microbatch"));
        if (plan.stepCount() > 1) {
            text.append(", ").append(Plan.count(plan.stepCount(), "step"));
        }
        int columns = columns(marks);
        if (!isWhole) {
            text.append("; of ").append(columns).append(" columns, those at the marked places");
        }
        for (int from = 0; from < columns; from += perBlock) {
            int to = Math.min(columns, from + perBlock);
            BitSet ranks = drawnRanks(from, to);
            if (!ranks.isEmpty()) {
                drawBlock(from, to, ranks);
            }
        }
        return text.toString();
    }

    /** Returns the ranks of a block that are drawn: all, or those near its marks. */
    private BitSet drawnRanks(int from, int to) {
        BitSet ranks = new BitSet();
        if (isWhole) {
            ranks.set(0, plan.rankCount());
            return ranks;
        }
        for (Mark mark : marks) {
            Place place = mark.place();
            if (place.position() >= from && place.position() < to) {
                ranks.set(Math.max(0, place.rank() - NEIGHBOURS),
                        Math.min(plan.rankCount(), place.rank() + NEIGHBOURS + 1));
            }
        }
        return ranks;
    }

    /** Returns the number of columns: the longest row, and one more if the place after its end is marked. */
    private int columns(List<Mark> marks) {
        int longest = plan.rows().stream().mapToInt(List::size).max().orElse(0);
        int marked = marks.stream().mapToInt(mark -> mark.place().position() + 1).max().orElse(0);
        return Math.max(longest, marked);
    }

    private void drawBlock(int from, int to, BitSet ranks) {
        StringBuilder header = new StringBuilder(" ".repeat(nameWidth));
        for (int position = from; position < to; position++) {
            header.append(padded(" " + position));
        }
        addLine(header);
        ranks.stream().forEach(rank -> drawRow(rank, from, to));
    }

    private void drawRow(int rank, int from, int to) {
        StringBuilder line = new StringBuilder(rankName(rank));
        line.append(" ".repeat(nameWidth - line.length()));
        for (int position = from; position < to; position++) {
            String cell = cell(rank, position);
            line.append(padded(isMarked(rank, position) ? "[" + cell + "]" : " " + cell));
        }
        addLine(line);
        for (Mark mark : marks) {
            Place place = mark.place();
            if (place.rank() == rank && place.position() >= from && place.position() < to) {
                int indent = nameWidth + (place.position() - from) * cellWidth + 1;
                String arrow = "^".repeat(cell(rank, place.position()).length());
                addLine(new StringBuilder(" ".repeat(indent)).append(arrow).append(' ').append(mark.caption()));
            }
        }
    }

    private String cell(int rank, int position) {
        List<Action> row = plan.rows().get(rank);
        if (position < row.size()) {
            String opening = plan.overlaps().contains(new Place(rank, position)) ? "(" : "";
            String closing = plan.overlaps().contains(new Place(rank, position - 1)) ? ")" : "";
            return opening + row.get(position) + closing;
        }
        return isMarked(rank, position) ? "?" : "";
    }

    private boolean isMarked(int rank, int position) {
        return marks.stream().anyMatch(mark -> mark.place().equals(new Place(rank, position)));
    }

    private String padded(String cell) {
        return cell + " ".repeat(Math.max(0, cellWidth - cell.length()));
    }

    private void addLine(StringBuilder line) {
        text.append('\n').append(line.toString().stripTrailing());
    }

    private static String rankName(int rank) {
        return "rank " + rank;
    }
}
