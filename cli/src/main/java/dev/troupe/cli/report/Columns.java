package dev.troupe.cli.report;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/** The layout of rows in aligned columns, and of words in lines as wide as the terminal. */
public final class Columns {
    /** The spaces between two columns, if the width allows. */
    private static final int GAP = 2;

    private Columns() {
    }

    /** Returns a line for each row, of any length. */
    public static String of(List<String> headings, List<List<String>> body) {
        return fitted(headings, body, OptionalInt.empty());
    }

    /**
     * Returns a line for each row if that fits; otherwise the columns in several tables, one under the other, each
     * of which begins with the first column.
     *
     * @param width the longest line, exceeded only if two columns need more; empty: no limit
     */
    static String fitted(List<String> headings, List<List<String>> body, OptionalInt width) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(headings);
        rows.addAll(body);
        int[] widths = new int[headings.size()];
        for (List<String> row : rows) {
            for (int column = 0; column < widths.length; column++) {
                widths[column] = Math.max(widths[column], row.get(column).length());
            }
        }
        int most = width.orElse(Integer.MAX_VALUE);
        int together = IntStream.of(widths).sum();
        int gap = together + GAP * (widths.length - 1) > most ? 1 : GAP;
        if (together + gap * (widths.length - 1) <= most) {
            return table(rows, widths, IntStream.range(0, widths.length).boxed().toList(), gap);
        }
        StringBuilder text = new StringBuilder();
        int next = 1;
        while (next < widths.length) {
            List<Integer> columns = new ArrayList<>(List.of(0));
            int length = widths[0];
            do {
                columns.add(next);
                length += GAP + widths[next];
                next++;
            } while (next < widths.length && length + GAP + widths[next] <= most);
            text.append(text.isEmpty() ? "" : "\n\n").append(table(rows, widths, columns, GAP));
        }
        return text.toString();
    }

    private static String table(List<List<String>> rows, int[] widths, List<Integer> columns, int gap) {
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column : columns) {
                line.append(row.get(column)).append(" ".repeat(widths[column] - row.get(column).length() + gap));
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString().stripTrailing();
    }

    /** Returns words in lines of at most this width, each after the indent; a longer word is not broken. */
    public static String wrapped(String words, int width, String indent) {
        StringBuilder text = new StringBuilder();
        StringBuilder line = new StringBuilder(indent);
        for (String word : words.split(" +")) {
            if (line.length() > indent.length() && line.length() + 1 + word.length() > width) {
                text.append(line).append('\n');
                line = new StringBuilder(indent);
            }
            line.append(line.length() > indent.length() ? " " : "").append(word);
        }
        return text.append(line).toString();
    }
}
