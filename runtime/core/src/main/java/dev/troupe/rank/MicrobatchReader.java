package dev.troupe.rank;

import dev.troupe.collective.CollectiveGroup;
import dev.troupe.config.group.Coordinates;
import dev.troupe.protocol.Pass;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/**
 * The token ids and targets of one microbatch of a rank. In a tensor-parallel group the first rank reads them and the
 * others get them from it, so that one rank of the group needs the data.
 *
 * <p>Thread rule: the rank's thread.
 */
final class MicrobatchReader implements AutoCloseable {
    private static final int ROOT = 0;

    private final NodeContext node;
    private final int rank;
    private final boolean isRoot;
    private final Optional<CollectiveGroup> tensorGroup;
    private final int[] tokens;
    private final int[] targets;
    // Shared, since the other ranks' threads read it. Both arrays, one after the other.
    private final Arena arena = Arena.ofShared();
    private final MemorySegment exchange;

    MicrobatchReader(NodeContext node, int rank, Optional<CollectiveGroup> tensorGroup) {
        Coordinates at = node.plan().ranks().coordinates(rank);
        int rows = node.plan().stageSettings().rows();
        this.node = node;
        this.rank = rank;
        this.isRoot = at.tensor() == ROOT;
        this.tensorGroup = tensorGroup;
        this.tokens = new int[rows];
        this.targets = new int[rows];
        this.exchange = arena.allocate(ValueLayout.JAVA_INT, 2L * rows);
    }

    /** Brings a microbatch of the rank's pipeline into {@link #tokens} and {@link #targets}. */
    void read(Pass pass, int microbatch) {
        if (isRoot) {
            switch (pass.kind()) {
                case TRAINING ->
                    node.batches().fillMicrobatch(pass.step(), node.plan().microbatchInStep(rank, microbatch),
                            node.plan().stageSettings().microbatchSize(), tokens, targets);
                case VALIDATION -> node.validation().orElseThrow().fill(microbatch, tokens, targets);
            }
        }
        tensorGroup.ifPresent(this::spread);
    }

    private void spread(CollectiveGroup group) {
        int rows = tokens.length;
        if (isRoot) {
            MemorySegment.copy(tokens, 0, exchange, ValueLayout.JAVA_INT, 0, rows);
            MemorySegment.copy(targets, 0, exchange, ValueLayout.JAVA_INT, (long) rows * Integer.BYTES, rows);
        }
        group.broadcast(exchange, ROOT);
        if (!isRoot) {
            MemorySegment.copy(exchange, ValueLayout.JAVA_INT, 0, tokens, 0, rows);
            MemorySegment.copy(exchange, ValueLayout.JAVA_INT, (long) rows * Integer.BYTES, targets, 0, rows);
        }
    }

    /** The ids that were read last. */
    int[] tokens() {
        return tokens;
    }

    /** The token after each of them. */
    int[] targets() {
        return targets;
    }

    @Override
    public void close() {
        arena.close();
    }
}
