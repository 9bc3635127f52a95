package dev.troupe.protocol.watch;

import dev.troupe.protocol.RowPosition;
import java.util.List;
import java.util.Optional;

/**
 * The answer of a rank to the coordinator's question.
 *
 * @param moves the number of events it has handled, kernels it has ended and pieces of files it has moved; it grows whenever
 *     the rank moves
 * @param isWorking whether it computes, loads or writes; if not, only a message from elsewhere, or the other ranks of its
 *     group in a collective, can move it on
 * @param situation its action or wait, in words
 * @param position its position in its row; empty between two passes
 * @param stack the stack of its thread, innermost call first; empty unless it works and has not moved since the last
 *     question
 */
public record RankStatus(int rank, long moves, boolean isWorking, String situation, Optional<RowPosition> position,
        List<String> stack) {
    public RankStatus {
        stack = List.copyOf(stack);
    }
}
