package dev.troupe.schedule.builder;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

import dev.troupe.schedule.PlanException;

/** The schedules one can train with, by name. */
public final class Schedules {
    private static final List<Schedule> ALL = List.of(new GPipe(), new OneForwardOneBackward(),
            new InterleavedOneForwardOneBackward());

    private Schedules() {
    }

    /** The names that {@link #named} knows, in the order in which the schedules were invented. */
    public static List<String> names() {
        return ALL.stream().map(Schedule::name).toList();
    }

    /**
     * The schedule of this name.
     *
     * @throws PlanException if there is none; the message names the nearest and lists all
     */
    public static Schedule named(String name) {
        for (Schedule schedule : ALL) {
            if (schedule.name().equals(name)) {
                return schedule;
            }
        }
        String nearest = names().stream().min(Comparator.comparingInt(known -> distance(name, known))).orElseThrow();
        throw new PlanException("There is no schedule \"" + name + "\": did you mean \"" + nearest + "\"? There are "
                + names().stream().collect(Collectors.joining(", ")) + ".");
    }

    /** How many letters must be put in, taken out or changed to make one word the other (Levenshtein), case aside. */
    private static int distance(String left, String right) {
        String from = left.toLowerCase(Locale.ROOT);
        String to = right.toLowerCase(Locale.ROOT);
        int[] above = new int[to.length() + 1];
        for (int j = 0; j <= to.length(); j++) {
            above[j] = j;
        }
        for (int i = 1; i <= from.length(); i++) {
            int[] line = new int[to.length() + 1];
            line[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                int changed = above[j - 1] + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                line[j] = Math.min(changed, Math.min(above[j], line[j - 1]) + 1);
            }
            above = line;
        }
        return above[to.length()];
    }
}
