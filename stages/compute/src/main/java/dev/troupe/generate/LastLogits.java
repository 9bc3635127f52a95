package dev.troupe.generate;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.fallback.HostNumbers;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.IntFunction;

/**
 * The logits of some rows of an activation: the rows are gathered, so that the head is read once for several. Letters: C
 * hidden size, V vocabulary.
 *
 * <p>Thread rule: as for the engine.
 */
final class LastLogits implements AutoCloseable {
    /** Rows of one product. */
    static final int MOST = 16;

    private final Engine engine;
    private final int hidden;
    private final int vocabularySize;
    /** [16 x C], of activations. */
    private final Tensor rows;
    /** [16 x V], rounded as logits of training are. */
    private final Tensor rounded;
    private final Tensor logits;
    private final Arena hostMemory = Arena.ofShared();
    private final MemorySegment host;

    LastLogits(Engine engine, int hidden, int vocabularySize) {
        this.engine = engine;
        this.hidden = hidden;
        this.vocabularySize = vocabularySize;
        rows = engine.allocate(engine.computeType(), Shape.of(MOST, hidden));
        rounded = engine.allocate(engine.computeType(), Shape.of(MOST, vocabularySize));
        logits = engine.allocate(engine.parameterType(), Shape.of(MOST, vocabularySize));
        long elementBytes = engine.parameterType().elementBytes();
        host = hostMemory.allocate(vocabularySize * elementBytes, elementBytes);
    }

    /**
     * Copies logits to host memory.
     *
     * @param activation the output of the last block, [at least the highest place x C]
     * @param places the rows
     * @param targets receives V logits for the number of each place
     */
    void read(SequenceForward forward, Tensor activation, int[] places, IntFunction<double[]> targets) {
        for (int first = 0; first < places.length; first += MOST) {
            int count = Math.min(MOST, places.length - first);
            for (int i = 0; i < count; i++) {
                engine.copy(row(activation, places[first + i]), row(rows, i));
            }
            Shape shape = Shape.of(count, vocabularySize);
            Tensor some = engine.range(rounded, 0, shape);
            Tensor floats = engine.range(logits, 0, shape);
            forward.head().logitsOfRows(engine.range(rows, 0, Shape.of(count, hidden)), some);
            engine.cast(some, floats);
            for (int i = 0; i < count; i++) {
                engine.copyToHost(floats, i * host.byteSize(), host);
                HostNumbers.load(engine.parameterType(), host, targets.apply(first + i), 0);
            }
        }
    }

    private Tensor row(Tensor matrix, int place) {
        return engine.range(matrix, place * (long) hidden, Shape.of(1, hidden));
    }

    @Override
    public void close() {
        rows.close();
        rounded.close();
        logits.close();
        if (hostMemory.scope().isAlive()) {
            hostMemory.close();
        }
    }
}
