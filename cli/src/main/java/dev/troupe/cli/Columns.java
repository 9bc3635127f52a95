package dev.troupe.cli;

import java.util.ArrayList;
import java.util.List;

/** Rows of text in columns that are aligned. */
final class Columns {
    private Columns() {
    }

    static String of(List<String> headings, List<List<String>> body) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(headings);
        rows.addAll(body);
        int[] widths = new int[headings.size()];
        for (List<String> row : rows) {
            for (int column = 0; column < widths.length; column++) {
                widths[column] = Math.max(widths[column], row.get(column).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < widths.length; column++) {
                line.append(row.get(column)).append(" ".repeat(widths[column] - row.get(column).length() + 2));
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString().stripTrailing();
    }
}
