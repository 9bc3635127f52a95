package dev.troupe.chaos;

/**
 * A step as a line of {@code metrics.jsonl} has it.
 *
 * @param step
 *            its number, from 0
 * @param loss
 *            its loss
 * @param seconds
 *            how long it took
 * @param committedMillis
 *            when it was committed, on the wall clock, in milliseconds since 1970
 */
public record CommittedStep(long step, double loss, double seconds, long committedMillis) {
    /** When it began. */
    public long startedMillis() {
        return committedMillis - Math.round(1000 * seconds);
    }
}
