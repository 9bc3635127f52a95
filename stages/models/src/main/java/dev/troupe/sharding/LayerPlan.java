package dev.troupe.sharding;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The plan of some layers of a model: lines in the order of the computation.
 *
 * @param layers their names, such as {@code embedding}, <code>h.*.attention</code> or {@code h.0,2-5.mlp}
 * @param line the line of this name, from 1; 0 in a derived plan
 */
public record LayerPlan(String layers, int line, List<PlanLine> lines) {
    /** The numbers of blocks in a name. */
    static final Pattern NUMBERS = Pattern.compile("\\*|\\d{1,6}(?:-\\d{1,6})?(?:,\\d{1,6}(?:-\\d{1,6})?)*");
    private static final Pattern NUMBER = Pattern.compile("\\d+");

    public LayerPlan {
        lines = List.copyOf(lines);
    }

    /** Returns whether it is the plan of a layer. */
    boolean isOf(String layer) {
        String[] mine = layers.split("\\.", -1);
        String[] its = layer.split("\\.", -1);
        if (mine.length != its.length) {
            return false;
        }
        for (int part = 0; part < mine.length; part++) {
            if (!mine[part].equals(its[part]) && !holds(mine[part], its[part])) {
                return false;
            }
        }
        return true;
    }

    private static boolean holds(String numbers, String number) {
        if (!NUMBERS.matcher(numbers).matches() || !NUMBER.matcher(number).matches()) {
            return false;
        }
        int asked = Integer.parseInt(number);
        return numbers.equals("*") || Arrays.stream(numbers.split(",")).map(range -> range.split("-"))
                .anyMatch(
                        ends -> Integer.parseInt(ends[0]) <= asked && asked <= Integer.parseInt(ends[ends.length - 1]));
    }

    /** Returns a pattern of the parameters that a line means: {@code *} is a number. */
    static Pattern parameters(String name) {
        StringBuilder pattern = new StringBuilder();
        Matcher stars = Pattern.compile("[^*]+|\\*").matcher(name);
        while (stars.find()) {
            pattern.append(stars.group().equals("*") ? "(\\d+)" : Pattern.quote(stars.group()));
        }
        return Pattern.compile(pattern.toString());
    }
}
