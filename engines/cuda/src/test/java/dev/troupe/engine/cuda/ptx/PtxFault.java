package dev.troupe.engine.cuda.ptx;

/** A kernel did what no GPU allows, or what a GPU allows with a result that nobody can tell. */
public final class PtxFault extends RuntimeException {
    private static final long serialVersionUID = 1L;

    PtxFault(String message) {
        super(message);
    }
}
