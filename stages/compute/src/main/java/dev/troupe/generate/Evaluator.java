package dev.troupe.generate;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.DropoutKey;
import dev.troupe.layer.HeadLayer;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.MicrobatchContext;
import dev.troupe.layer.TensorPool;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.TensorShare;
import dev.troupe.partition.LayerRange;
import dev.troupe.shard.StageBuffers;
import dev.troupe.stage.StageLayers;
import dev.troupe.stage.TokenUpload;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/**
 * The losses and logits of a whole model on one engine, a sequence at a time. S is the sequence length, V the vocabulary.
 *
 * <p>Thread rule: as for the engine, which stays the caller's.
 */
public final class Evaluator implements AutoCloseable {
    private final Engine engine;
    private final Shape logitsShape;
    private final TensorPool pool;
    private final StageLayers layers;
    private final StageBuffers buffers;
    private final TokenUpload upload;

    /**
     * Reads a whole model.
     *
     * @throws dev.troupe.weights.WeightException
     *             where the source lacks a tensor
     */
    public Evaluator(Engine engine, ModelSpec model, WeightSource source, int sequenceLength) {
        this.engine = engine;
        this.logitsShape = Shape.of(sequenceLength, model.size(Axis.VOCABULARY));
        this.pool = new TensorPool(engine);
        LayerContext context = new LayerContext(engine, pool, model.size(Axis.HIDDEN), 1, sequenceLength, 1,
                TensorShare.ALL);
        this.layers = StageLayers.of(context, model, new LayerRange(0, model.layers().size() - 1));
        this.buffers = new StageBuffers(engine, layers.used(), false, DataShare.ALL, TensorGroup.ALONE, pool);
        buffers.load(layers.parameters(), source);
        this.upload = new TokenUpload(context, 0, model.size(Axis.VOCABULARY));
    }

    /**
     * The sum of the cross-entropies of a sequence's counted targets.
     *
     * @param rows
     *            one sequence
     * @throws IllegalArgumentException
     *             where these are not S ids and targets of the vocabulary
     */
    public double lossOf(MicrobatchRows rows) {
        return forward(rows, _ -> {
        });
    }

    /**
     * The logits of a sequence.
     *
     * @param rows
     *            one sequence
     * @param target
     *            receives S x V numbers of the engine's float type, row-major
     */
    public void logitsOf(MicrobatchRows rows, MemorySegment target) {
        forward(rows, logits -> {
            Tensor floats = pool.takeFloats(logitsShape);
            engine.cast(logits, floats);
            engine.copyToHost(floats, 0, target);
            pool.give(floats);
        });
    }

    private double forward(MicrobatchRows rows, Consumer<Tensor> logits) {
        Tensor starts = rows.starts() == null ? null : upload.starts(rows.starts());
        MicrobatchContext microbatch = new MicrobatchContext(DropoutKey.NONE, starts);
        Tensor x = layers.forwardBeforeHead(upload.tokens(rows.inputs()), microbatch);
        HeadLayer.Pass head = layers.head().newTape();
        head.predict(upload.targets(rows.targets()), 1);
        head.forward(x, microbatch);
        double loss = head.loss();
        logits.accept(head.logits());
        head.release();
        pool.drop(starts);
        return loss;
    }

    @Override
    public void close() {
        pool.close();
        buffers.close();
        upload.close();
    }
}
