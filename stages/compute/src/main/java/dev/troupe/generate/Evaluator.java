package dev.troupe.generate;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.DropoutKey;
import dev.troupe.layer.HeadLayer;
import dev.troupe.layer.MicrobatchContext;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.stage.EngineSums;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/**
 * An evaluator of a whole model on one engine: losses and logits, a sequence at a time. S is the sequence length, V the
 * vocabulary.
 *
 * <p>Thread rule: as for the engine, which stays the caller's.
 */
public final class Evaluator implements AutoCloseable {
    private final Engine engine;
    private final Shape logitsShape;
    private final ModelLayers model;
    private final SequenceForward layers;
    private final EngineSums loss;

    /**
     * Reads a whole model.
     *
     * @throws dev.troupe.weights.WeightException if the source lacks a tensor
     */
    public Evaluator(Engine engine, ModelSpec spec, WeightSource source, int sequenceLength) {
        this.engine = engine;
        this.logitsShape = Shape.of(sequenceLength, spec.size(Axis.VOCABULARY));
        this.model = new ModelLayers(engine, spec, source, sequenceLength);
        this.layers = model.longest();
        this.loss = new EngineSums(engine, 1);
    }

    /**
     * Returns the sum of the cross-entropies of a sequence's counted targets.
     *
     * @param rows one sequence, which may be shorter than S
     * @throws IllegalArgumentException if these are not S ids and targets of the vocabulary
     */
    public double lossOf(MicrobatchRows rows) {
        return forward(rows, _ -> {
        });
    }

    /**
     * Computes the logits of a sequence.
     *
     * @param target receives S x V numbers of the engine's float type, row-major
     */
    public void logitsOf(MicrobatchRows rows, MemorySegment target) {
        forward(rows, logits -> {
            Tensor floats = layers.pool().takeFloats(logitsShape);
            engine.cast(logits, floats);
            engine.copyToHost(floats, 0, target);
            layers.pool().give(floats);
        });
    }

    private double forward(MicrobatchRows rows, Consumer<Tensor> logits) {
        int length = rows.tokenCount();
        Tensor starts = rows.starts() == null ? null : layers.upload().starts(rows.starts(), length);
        Tensor x = layers.beforeHead(rows.inputs(), new MicrobatchContext(length, DropoutKey.NONE, starts));
        HeadLayer.Pass head = layers.head().newTape();
        head.predict(layers.upload().targets(rows.targets(), length), 1, loss.tensor(), 0);
        head.forward(x, MicrobatchContext.plain(length));
        logits.accept(head.logits());
        head.release();
        layers.pool().drop(starts);
        loss.read();
        return loss.get(0);
    }

    @Override
    public void close() {
        loss.close();
        model.close();
    }
}
