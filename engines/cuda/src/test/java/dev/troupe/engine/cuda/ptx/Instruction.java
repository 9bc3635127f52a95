package dev.troupe.engine.cuda.ptx;

/**
 * One instruction.
 *
 * @param kind how it moves its lanes on
 * @param op what it does; null of those that only move lanes
 * @param guard the predicate that its lanes must have; negative: none
 * @param negated whether they must not have it
 * @param target of a branch
 * @param text as the module has it
 */
record Instruction(Kind kind, Op op, int guard, boolean negated, int target, String text) {
    /** How an instruction moves its lanes on. */
    enum Kind {
        /** To the next instruction. */
        PLAIN,
        /** To the next instruction, and all lanes of the warp together. */
        TOGETHER,
        /** To its target. */
        BRANCH,
        /** To the next instruction, once all threads of the block are there. */
        BARRIER,
        /** Nowhere. */
        EXIT
    }
}
