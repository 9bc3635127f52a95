package dev.troupe.look.compare;

import dev.troupe.plan.UsageException;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.family.Schedules;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A schedule that takes part in a comparison.
 *
 * @param schedule its name, or the path of a plan
 * @param virtualStages stages on each rank, V
 */
public record Contestant(String schedule, int virtualStages) {
    /**
     * Parses a list such as {@code gpipe,1f1b,interleaved-1f1b:4}: names, each with its V if it is not the schedule's
     * default.
     *
     * @throws UsageException if V is no number, or a contestant is named twice
     * @throws dev.troupe.schedule.PlanException if there is no such schedule
     */
    public static List<Contestant> parse(String list) {
        List<Contestant> contestants = Arrays.stream(list.split(",")).map(String::strip)
                .filter(text -> !text.isEmpty()).map(Contestant::parseOne).toList();
        Set<Contestant> seen = new HashSet<>();
        for (Contestant contestant : contestants) {
            if (!seen.add(contestant)) {
                throw new UsageException("--schedules: expected each schedule once, but found " + contestant.label()
                        + " twice: leave one out");
            }
        }
        return contestants;
    }

    private static Contestant parseOne(String text) {
        int colon = text.lastIndexOf(':');
        if (colon < 0) {
            Schedule schedule = Schedules.named(text);
            return new Contestant(text, schedule.usualVirtualStages());
        }
        String name = text.substring(0, colon);
        Schedules.named(name);
        try {
            return new Contestant(name, Integer.parseInt(text.substring(colon + 1)));
        } catch (NumberFormatException _) {
            throw new UsageException(
                    "--schedules: expected a number of stages on each rank after the colon of \"" + text
                            + "\", such as interleaved-1f1b:4");
        }
    }

    /** Returns the name, with V if it is more than 1. */
    public String label() {
        return virtualStages == 1 ? schedule : schedule + ", V = " + virtualStages;
    }
}
