package dev.troupe.schedule.search;

/**
 * The machine of one rank.
 *
 * @param speed its speed; a machine of speed 0.5 takes twice as long as the one on which the units were measured
 * @param memoryBytes the memory that a rank on it may take
 */
public record Machine(double speed, long memoryBytes) {
    public Machine {
        if (!(speed > 0) || memoryBytes < 0) {
            throw new IllegalArgumentException(
                    "a machine needs a speed above 0 and a memory of 0 bytes or more, but has "
                            + speed + " and " + memoryBytes);
        }
    }

    /** Returns a machine of speed 1 with as much memory as is asked for. */
    public static Machine unlimited() {
        return new Machine(1, Long.MAX_VALUE);
    }
}
