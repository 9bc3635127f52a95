package dev.troupe.schedule.family;

import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.Schedule;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The list of training schedules by name; add a new schedule here. */
public final class Schedules {
    private static final List<Schedule> ALL = List.of(new GPipe(), new OneForwardOneBackward(), new LoopedBfs(),
            new InterleavedOneForwardOneBackward(), new ZeroBubbleH1(), new ZeroBubbleH2(),
            new InterleavedZeroBubble(), new ZeroBubbleV(), new VHalf(), new VMin(), new DualPipeV());

    /** The names of the schedules with overlapping steps: see {@link OverlappingRule}. */
    private static final List<String> OVERLAPPING = List.of(PipeDream2Bw.NAME, PipeDream.STASHING,
            PipeDream.VERTICAL_SYNC);

    private Schedules() {
    }

    /** Returns the names that {@link #named} knows, with related schedules next to each other. */
    public static List<String> names() {
        return ALL.stream().map(Schedule::name).toList();
    }

    /** Returns the names of all schedules of a training: {@link #names}, and those that overlap steps. */
    public static List<String> ofTraining() {
        return Stream.concat(names().stream(), OVERLAPPING.stream()).toList();
    }

    /** Returns whether the schedule of this name overlaps steps, and so has no plan of one step. */
    public static boolean overlapsSteps(String name) {
        return OVERLAPPING.contains(name);
    }

    /**
     * Returns the schedule of this name, or the plan in this file.
     *
     * @param name one of {@link #names}, or a path: a name that ends in {@code .csv} or has a slash in it
     * @throws PlanException if there is no such schedule; the message suggests the nearest and lists all
     */
    public static Schedule named(String name) {
        for (Schedule schedule : ALL) {
            if (schedule.name().equals(name)) {
                return schedule;
            }
        }
        if (overlapsSteps(name)) {
            throw new PlanException(name
                    + " overlaps the steps of a run, so that it has no plan of one step: ./troupe schedule draws it and"
                    + " ./troupe train runs it; here, take one of " + String.join(", ", names()) + ".");
        }
        if (name.toLowerCase(Locale.ROOT).endsWith(".csv") || name.contains("/") || name.contains("\\")) {
            return new PlanFile(Path.of(name));
        }
        String nearest = names().stream().min(Comparator.comparingInt(known -> distance(name, known))).orElseThrow();
        // If more than a third of the longer word differs, the suggestion would not resemble the input.
        boolean isNear = 3 * distance(name, nearest) <= Math.max(name.length(), nearest.length());
        throw new PlanException("There is no schedule \"" + name + "\": "
                + (isNear ? "did you mean \"" + nearest + "\"? There are " : "there are ")
                + String.join(", ", names()) + ", and paths of CSV files.");
    }

    /** Returns the Levenshtein distance of two words, ignoring case. */
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
