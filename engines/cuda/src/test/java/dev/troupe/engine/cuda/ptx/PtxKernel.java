package dev.troupe.engine.cuda.ptx;

/**
 * A kernel in the form that the interpreter runs.
 *
 * @param parameterBytes of each parameter
 * @param sharedBytes of the memory that a block's threads share
 * @param registers the registers of a thread
 */
record PtxKernel(String name, int[] parameterBytes, int sharedBytes, Registers registers, Instruction[] code) {
}
