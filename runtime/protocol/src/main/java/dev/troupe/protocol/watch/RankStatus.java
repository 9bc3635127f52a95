package dev.troupe.protocol.watch;

import dev.troupe.protocol.RowPosition;
import java.util.List;
import java.util.Optional;

/**
 * The status of a rank, with which it answers the coordinator.
 *
 * @param moves the number of handled events, finished kernels and moved pieces of files
 * @param isWorking whether the rank computes, loads or writes; if not, it waits for a message, or for the other ranks of its
 *     group in a collective
 * @param situation the rank's action or wait, in words
 * @param position the rank's position in its row; empty between two passes
 * @param stack the stack of its thread, innermost call first; empty unless the rank works and has not moved since the last
 *     question
 */
public record RankStatus(int rank, long moves, boolean isWorking, String situation, Optional<RowPosition> position,
        List<String> stack) {
    public RankStatus {
        stack = List.copyOf(stack);
    }
}
