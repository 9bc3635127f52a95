package dev.troupe.rank;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.collective.CollectiveGroup;
import dev.troupe.config.group.Coordinates;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.rank.Rows;
import dev.troupe.rank.group.ExchangeThread;
import dev.troupe.rank.group.RankCollectives;
import dev.troupe.schedule.Action;
import dev.troupe.stage.StageSettings;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;

/**
 * The reader of a rank's microbatches. In a tensor-parallel group the first rank reads the rows and broadcasts them, so only
 * this rank needs the data. Thread rule: the rank's thread; {@link #lengthOf} and {@link #relativeLength} on any thread.
 */
final class MicrobatchReader implements AutoCloseable {
    private static final int ROOT = 0;

    private final NodeContext node;
    private final int rank;
    private final boolean isRoot;
    private final Optional<CollectiveGroup> tensorGroup;
    private final ExchangeThread exchanges;
    private final MicrobatchRows rows;
    /** The arrays of {@link #rows} in use. */
    private final List<int[]> arrays;
    // Shared, since threads of other ranks read it. Layout: the arrays in order, then the number of targets.
    private final Arena arena = Arena.ofShared();
    private final MemorySegment exchange;

    MicrobatchReader(NodeContext node, int rank, RankCollectives collectives) {
        Coordinates at = node.plan().ranks().coordinates(rank);
        StageSettings settings = node.plan().stageSettings();
        this.node = node;
        this.rank = rank;
        this.isRoot = at.tensor() == ROOT;
        this.tensorGroup = collectives.tensor();
        this.exchanges = collectives.thread();
        this.rows = new MicrobatchRows(settings.rows(), settings.separatesDocuments());
        this.arrays = settings.separatesDocuments()
                ? List.of(rows.inputs(), rows.targets(), rows.starts())
                : List.of(rows.inputs(), rows.targets());
        this.exchange = arena.allocate(numberAt(arrays.size()) + Double.BYTES, Double.BYTES);
    }

    private long numberAt(int array) {
        return (long) array * rows.inputs().length * Integer.BYTES;
    }

    /** Returns the tokens in each sequence of a microbatch of the rank's pipeline. */
    int lengthOf(Pass.Kind kind, long step, int microbatch) {
        return switch (kind) {
            case TRAINING -> node.data().batches().lengthOf(step, node.plan().globalMicrobatch(rank, microbatch),
                    node.plan().stageSettings().microbatchSize());
            case VALIDATION -> node.data().validation().orElseThrow().lengthOf(microbatch);
        };
    }

    /** Returns the sequence length of an action's microbatch, divided by the longest of the run. */
    double relativeLength(Pass pass, Action action) {
        Rows steps = node.plan().rows();
        int length = lengthOf(pass.kind(), steps.stepOf(action, pass), steps.microbatchInStep(pass.kind(), action));
        return (double) length / node.plan().stageSettings().sequenceLength();
    }

    /** Whether this rank reads for its tensor group. */
    boolean isReader() {
        return isRoot;
    }

    /** Reads a microbatch of the rank's pipeline, if this rank {@linkplain #isReader reads}. */
    void read(Pass pass, int microbatch) {
        switch (pass.kind()) {
            case TRAINING ->
                node.data().batches().fillMicrobatch(pass.step(), node.plan().globalMicrobatch(rank, microbatch),
                        node.plan().stageSettings().microbatchSize(), rows);
            case VALIDATION -> node.data().validation().orElseThrow().fill(microbatch, rows);
        }
    }

    /** Returns the microbatch that the group's reader has read; waits for it. */
    MicrobatchRows share(Pass pass, int microbatch) {
        rows.setTokenCount(
                node.plan().stageSettings().microbatchSize() * lengthOf(pass.kind(), pass.step(), microbatch));
        long start = System.nanoTime();
        tensorGroup.ifPresent(this::spread);
        exchanges.waited(System.nanoTime() - start);
        return rows;
    }

    private void spread(CollectiveGroup group) {
        int length = rows.inputs().length;
        if (isRoot) {
            for (int array = 0; array < arrays.size(); array++) {
                MemorySegment.copy(arrays.get(array), 0, exchange, ValueLayout.JAVA_INT, numberAt(array), length);
            }
            exchange.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, numberAt(arrays.size()), rows.targetsPerMicrobatch());
        }
        group.broadcast(exchange, ROOT);
        if (!isRoot) {
            for (int array = 0; array < arrays.size(); array++) {
                MemorySegment.copy(exchange, ValueLayout.JAVA_INT, numberAt(array), arrays.get(array), 0, length);
            }
            rows.setTargetsPerMicrobatch(exchange.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, numberAt(arrays.size())));
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
