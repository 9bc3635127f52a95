package dev.troupe.look.chaos;

/**
 * A step from a line of {@code metrics.jsonl}.
 *
 * @param committedMillis the time of its commit on the wall clock, in milliseconds since 1970
 */
public record CommittedStep(long step, double loss, double seconds, long committedMillis) {
    public long startedMillis() {
        return committedMillis - Math.round(1000 * seconds);
    }
}
