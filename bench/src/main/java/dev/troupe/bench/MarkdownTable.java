package dev.troupe.bench;

import java.util.ArrayList;
import java.util.List;

/** A Markdown table, built row by row. Thread rule: one thread. */
public final class MarkdownTable {
    private final List<List<String>> rows = new ArrayList<>();

    /** Creates a table with these column headings. */
    public MarkdownTable(String... heads) {
        rows.add(List.of(heads));
    }

    /** Adds a row, with a cell for each column. */
    public void row(String... cells) {
        if (cells.length != rows.getFirst().size()) {
            throw new IllegalArgumentException(
                    "a row must have " + rows.getFirst().size() + " cells, but found " + cells.length);
        }
        rows.add(List.of(cells));
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < rows.size(); i++) {
            text.append("| ").append(String.join(" | ", rows.get(i))).append(" |\n");
            if (i == 0) {
                text.append("|---".repeat(rows.getFirst().size())).append("|\n");
            }
        }
        return text.toString();
    }
}
