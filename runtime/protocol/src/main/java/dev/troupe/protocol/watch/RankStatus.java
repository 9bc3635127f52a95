package dev.troupe.protocol.watch;

import dev.troupe.protocol.RowPosition;
import java.util.List;
import java.util.Optional;

/**
 * What a rank says of itself when the coordinator asks.
 *
 * @param rank the rank
 * @param moves how many events it has taken in, kernels it has ended, pieces of files it has moved; it grows whenever
 *     the rank moves
 * @param isWorking whether it computes, loads or writes; if not, only a message from elsewhere, or in a collective the
 *     other ranks of the group, can move it on
 * @param situation what it does or waits for, for a person
 * @param position if that is in its row; empty between two passes
 * @param stack if its thread stands, innermost call first; empty unless it works and has not moved since it was
 *     asked last
 */
public record RankStatus(int rank, long moves, boolean isWorking, String situation, Optional<RowPosition> position,
        List<String> stack) {
    public RankStatus {
        stack = List.copyOf(stack);
    }
}
