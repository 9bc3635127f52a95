package dev.troupe.config.spec;

import dev.troupe.config.value.Range;
import dev.troupe.config.value.Values;

/**
 * The parts of the model that a microbatch drops at random.
 *
 * @param dropout the probability that an activation is dropped
 * @param keep the limit of the probability that a half of the last block is kept; 1: no half is dropped
 * @param decay the rate at which that probability falls, for the steps of a run
 */
public record DropSpec(double dropout, double keep, double decay) {
    private static final String KEEP = "training.layer-drop.keep";
    private static final String DECAY = "training.layer-drop.decay";
    /** Of Zhang and He 2020, section 4.1. */
    private static final double USUAL_DECAY = 100;

    /** Reads {@code training.dropout} and {@code training.layer-drop}, and reports a setting without an effect. */
    static DropSpec read(Values values) {
        DropSpec drop = new DropSpec(values.decimal("training.dropout", Range.FRACTION),
                values.decimal(KEEP, Range.PROBABILITY), values.decimal(DECAY, Range.POSITIVE));
        if (values.sound(KEEP, DECAY) && !drop.dropsHalves() && drop.decay != USUAL_DECAY) {
            values.report(DECAY, "its default while " + KEEP + " is 1", "" + drop.decay,
                    "set " + KEEP + " below 1, or take this key away");
        }
        return drop;
    }

    public boolean dropsHalves() {
        return keep < 1;
    }
}
