package dev.troupe.sharding;

import java.util.Collection;
import java.util.Comparator;

/** The name that differs least from a misspelt one, by the number of changed letters (Levenshtein 1966). */
final class Nearest {
    private Nearest() {
    }

    static String of(String name, Collection<String> names) {
        return names.stream().min(Comparator.comparingInt(other -> distance(name, other))).orElse("none");
    }

    private static int distance(String one, String other) {
        int[] before = new int[other.length() + 1];
        for (int column = 0; column <= other.length(); column++) {
            before[column] = column;
        }
        for (int row = 1; row <= one.length(); row++) {
            int[] now = new int[other.length() + 1];
            now[0] = row;
            for (int column = 1; column <= other.length(); column++) {
                int changed = before[column - 1] + (one.charAt(row - 1) == other.charAt(column - 1) ? 0 : 1);
                now[column] = Math.min(changed, 1 + Math.min(before[column], now[column - 1]));
            }
            before = now;
        }
        return before[other.length()];
    }
}
