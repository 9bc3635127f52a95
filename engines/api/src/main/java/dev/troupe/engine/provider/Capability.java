package dev.troupe.engine.provider;

/** What some engines can do and others cannot, whatever their settings are. */
public enum Capability implements Need {
    /** Tensors hold values, and kernels compute them. An engine without it keeps time, by a {@link WorkClock}. */
    VALUES,
    /** Kernels drop out; without it they refuse any {@link dev.troupe.engine.Dropout} that drops. */
    DROPOUT
}
