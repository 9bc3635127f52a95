package dev.troupe.config.spec;

import dev.troupe.config.value.Values;

/** The ways to watch a run: the section {@code observe} of the defaults. */
public record ObserveSpec(int port, boolean tensorboard, int sampleTokens) {
    private static final int MOST_PORT = 65535;
    private static final int MOST_SAMPLE_TOKENS = 4096;

    public static ObserveSpec read(Values values) {
        return new ObserveSpec(values.integer("observe.port", 0, MOST_PORT),
                values.flag("observe.tensorboard"), values.integer("observe.sample-tokens", 0, MOST_SAMPLE_TOKENS));
    }
}
