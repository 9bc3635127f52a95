package dev.troupe.engine.provider;

/** An ability that some engines have and others lack, whatever their settings are. */
public enum Capability implements Need {
    /** Tensors hold values, and kernels compute them. An engine without it keeps time, by a {@link WorkClock}. */
    VALUES,
    /** Kernels drop out; without it they refuse any {@link dev.troupe.engine.Dropout} that drops. */
    DROPOUT
}
