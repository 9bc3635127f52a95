package dev.troupe.engine.provider;

/** An ability of a kind of engine, whatever its settings. */
public enum Capability implements Need {
    /** Tensors hold values, and kernels compute them. An engine without it keeps time, by a {@link WorkClock}. */
    VALUES,
    /** Kernels apply dropout; without it they refuse a {@link dev.troupe.engine.Dropout} with a probability above 0. */
    DROPOUT,
    /** Results have the same bits with any number of threads. */
    ANY_THREADS
}
