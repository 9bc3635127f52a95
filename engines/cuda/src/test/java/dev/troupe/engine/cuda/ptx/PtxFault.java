package dev.troupe.engine.cuda.ptx;

/** A fault of a kernel: something that no GPU allows, or that has an undefined result. */
public final class PtxFault extends RuntimeException {
    private static final long serialVersionUID = 1L;

    PtxFault(String message) {
        super(message);
    }
}
