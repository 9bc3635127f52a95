package dev.troupe.engine.cuda.ptx;

/** The effect of an instruction on the lanes of a warp with set bits. */
@FunctionalInterface
interface Op {
    void run(Warp warp, int lanes);
}
