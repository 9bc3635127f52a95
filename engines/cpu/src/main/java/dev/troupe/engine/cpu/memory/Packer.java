package dev.troupe.engine.cpu.memory;

/** A rearrangement of a matrix into the order in which a product reads it. */
public interface Packer {
    long bytes();

    /** Packs the matrix at an address to another one. */
    void pack(long from, long to);
}
