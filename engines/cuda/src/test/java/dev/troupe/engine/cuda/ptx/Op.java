package dev.troupe.engine.cuda.ptx;

/** What an instruction does, for the lanes of a warp whose bits are set. */
@FunctionalInterface
interface Op {
    void run(Warp warp, int lanes);
}
