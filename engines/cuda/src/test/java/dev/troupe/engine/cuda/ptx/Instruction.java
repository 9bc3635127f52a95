package dev.troupe.engine.cuda.ptx;

/**
 * One instruction.
 *
 * @param kind its effect on the position of lanes
 * @param op its effect on registers and memory; null if it only moves lanes
 * @param guard the predicate that its lanes must have; negative for none
 * @param negated whether they must lack it
 * @param target of a branch
 * @param text as the module has it
 */
record Instruction(Kind kind, Op op, int guard, boolean negated, int target, String text) {
    /** The effect of an instruction on the position of lanes. */
    enum Kind {
        PLAIN,
        /** To the next instruction, and all lanes of the warp together. */
        TOGETHER, BRANCH,
        /** To the next instruction, after all threads of the block have arrived. */
        BARRIER, EXIT
    }
}
