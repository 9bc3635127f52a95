package dev.troupe.engine.cpu;

/** Puts a matrix into the order in which a product reads it. */
interface Packer {
    /** Bytes of a packed matrix. */
    long bytes();

    /** Packs the matrix at an address to another one. */
    void pack(long from, long to);
}
