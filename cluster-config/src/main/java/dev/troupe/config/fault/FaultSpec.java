package dev.troupe.config.fault;

import java.math.BigDecimal;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * A fault to inject: its kind, its place and its time. An empty component matches everything. Immutable; its text form is
 * {@link #text()}.
 *
 * @param stage the stage; for a message, the stage that sends it
 * @param rank the rank; for a message, the rank that sends it
 * @param step the optimizer step, from 0
 * @param microbatch the microbatch of the rank's pipeline, from 0
 * @param at the point of the step; empty: the first at which the kind can strike
 * @param message the content of the message; only if each place sends or receives one
 * @param factor factor of the time of an action, at least 1; of {@link FaultKind#SLOW} only, and 1 for the others
 * @param seconds length of the fault, or of the jump of a clock; 0 for kinds without a length
 * @param probability probability that the fault strikes at a place that matches, above 0 and at most 1
 * @param seed seed of the draws if the probability is below 1
 * @param times maximum number of strikes; 0: no limit
 */
public record FaultSpec(FaultKind kind, OptionalInt stage, OptionalInt rank, OptionalLong step, OptionalInt microbatch,
        Optional<FaultPoint> at, Optional<FaultMessage> message, double factor, double seconds, double probability,
        long seed, int times) {

    /** The default factor of a slow action. */
    static final double USUAL_FACTOR = 4;

    public FaultSpec {
        Objects.requireNonNull(kind, "kind");
        if (at.isPresent() && !kind.points().contains(at.get())) {
            throw new IllegalArgumentException(kind.word() + " cannot strike at " + at.get().word());
        }
        if (message.isPresent() && !kind.strikesOnlyMessages(at)) {
            throw new IllegalArgumentException(
                    kind.word() + " strikes more than messages unless a point is given");
        }
        if (!(factor >= 1) || !(seconds >= 0) || !(probability > 0) || probability > 1 || times < 0) {
            throw new IllegalArgumentException("a fault has a factor of at least 1, seconds and times of at least 0 and"
                    + " a probability above 0 and at most 1, but found " + factor + ", " + seconds + ", " + times
                    + " and " + probability);
        }
    }

    /**
     * Reads a fault.
     *
     * @param text {@code kind [stage=2] [rank=0] [step=5] [microbatch=3] [at=F] [message=gradient] [factor=4] [seconds=1]
     *     [probability=0.1] [seed=1] [times=1]}
     * @param key the key of the text, as a problem names it
     * @param origin the file and line, or another origin of the text
     * @throws dev.troupe.config.problem.ConfigException with a problem for each word that is wrong
     */
    public static FaultSpec parse(String text, String key, String origin) {
        return new FaultReader(text, key, origin).read();
    }

    /** Returns the default of {@code times}: 1 for a probability of 1, else 0, so that every draw may strike. */
    static int usualTimes(double probability) {
        return probability == 1 ? 1 : 0;
    }

    /** Returns the fault as text, which reads back to an equal one; defaults are left out. */
    public String text() {
        StringBuilder text = new StringBuilder(kind.word());
        rank.ifPresent(number -> add(text, "rank", number));
        stage.ifPresent(number -> add(text, "stage", number));
        step.ifPresent(number -> add(text, "step", number));
        microbatch.ifPresent(number -> add(text, "microbatch", number));
        at.ifPresent(point -> add(text, "at", point.word()));
        message.ifPresent(carried -> add(text, "message", carried.word()));
        if (kind.hasFactor() && factor != USUAL_FACTOR) {
            add(text, "factor", plain(factor));
        }
        if (kind.usualSeconds().isPresent() && seconds != kind.usualSeconds().getAsDouble()) {
            add(text, "seconds", plain(seconds));
        }
        if (probability != 1) {
            add(text, "probability", plain(probability));
        }
        if (seed != 0) {
            add(text, "seed", seed);
        }
        if (times != usualTimes(probability)) {
            add(text, "times", times);
        }
        return text.toString();
    }

    private static void add(StringBuilder text, String name, Object value) {
        text.append(' ').append(name).append('=').append(value);
    }

    /** Returns a number with all its digits, and with an exponent only if it would be too long to read back. */
    private static String plain(double number) {
        BigDecimal digits = new BigDecimal(Double.toString(number)).stripTrailingZeros();
        return digits.scale() <= FaultReader.MOST_DECIMALS ? digits.toPlainString() : Double.toString(number);
    }

    public boolean strikesAt(FaultPoint point) {
        return at.map(point::equals).orElseGet(() -> kind.points().contains(point));
    }

    @Override
    public String toString() {
        return text();
    }
}
