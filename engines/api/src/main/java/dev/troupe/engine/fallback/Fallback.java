package dev.troupe.engine.fallback;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import java.util.function.Consumer;

/** The base of kernels that run on the host instead of the engine. */
interface Fallback extends Engine {
    /**
     * Runs the definition of a kernel. An engine with tensors on the host may pass its own arrays, and an engine that
     * computes nothing skips the loops.
     *
     * @param definition reads operands, computes, and writes outputs, or calls other kernels of this engine
     */
    default void fallBack(Kernel kernel, Consumer<HostOperands> definition) {
        HostOperands operands = new CopiedOperands(this);
        definition.accept(operands);
        operands.store();
    }
}
