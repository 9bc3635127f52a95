package dev.troupe.optimizer;

import dev.troupe.engine.Engine;
import dev.troupe.layer.Parameter;
import dev.troupe.layer.TensorPool;
import dev.troupe.offload.StateStore;
import dev.troupe.parallel.DataShare;
import dev.troupe.shard.BufferLayout.Run;
import dev.troupe.shard.StageBuffers;
import dev.troupe.shard.StateTensor;
import java.util.List;
import java.util.Optional;

/** The optimizer of a stage with its state. */
public final class OptimizerState implements AutoCloseable {
    private final StageBuffers buffers;
    private final BiasUpdates biases;
    private final ElementUpdates elements;
    private final Optional<MatrixUpdates> matrices;
    private final Optional<DelayFeedback> feedback;
    private final Optional<OuterStep> outer;
    /** Whether updates write the operands of products: true if the weights do not change after them. */
    private final boolean writesOperands;

    /**
     * Allocates the optimizer's state.
     *
     * @param pool for temporary tensors of an update
     * @param data the rank's thread for reading and writing a store
     * @param biases updated before all other parameters, with gradients of zero afterwards
     * @throws IllegalArgumentException if the optimizer needs whole matrices and the stage has parts of them, or if error
     *     feedback is on and gradients are not one update old
     */
    public OptimizerState(Engine engine, StageBuffers buffers, Optimizer optimizer, TensorPool pool, DataShare data,
            BiasUpdates biases) {
        this.buffers = buffers;
        this.biases = biases;
        Optimizer ofSteps = optimizer instanceof Optimizer.DiLoCo replicas ? replicas.inner() : optimizer;
        Optimizer rule = ofSteps instanceof Optimizer.ErrorFeedback delayed ? delayed.rule() : ofSteps;
        switch (rule) {
            case Optimizer.OfElements each -> {
                writesOperands = rule == ofSteps;
                elements = new ElementUpdates(engine, buffers, each, buffers.runs(false), writesOperands,
                        Optional.empty());
                matrices = Optional.empty();
            }
            case Optimizer.Stored(Optimizer.OfElements each, StateStore store) -> {
                writesOperands = true;
                List<Run> runs = buffers.runs(false);
                elements = new ElementUpdates(engine, buffers, each, runs, writesOperands, Optional.of(
                        new StoredMoments(engine, buffers, data.aside(), store, runs, each.moments().size())));
                matrices = Optional.empty();
            }
            case Optimizer.Muon muon -> {
                writesOperands = false;
                elements = new ElementUpdates(engine, buffers, muon.others(), buffers.runs(true), false,
                        Optional.empty());
                matrices = Optional.of(new MatrixUpdates(engine, buffers, muon, pool));
            }
            case Optimizer.ErrorFeedback _ -> throw new IllegalStateException("an update's error is fed back once");
            case Optimizer.DiLoCo _ -> throw new IllegalStateException("replicas have one outer optimizer");
        }
        feedback = ofSteps instanceof Optimizer.ErrorFeedback
                ? Optional.of(new DelayFeedback(engine, buffers))
                : Optional.empty();
        outer = optimizer instanceof Optimizer.DiLoCo replicas
                ? Optional.of(new OuterStep(engine, buffers, replicas))
                : Optional.empty();
    }

    /** Ends a step: if a round of replicas ends with it, the outer step makes their weights equal. */
    public void endStep(long step, int replicas) {
        outer.ifPresent(some -> some.endStep(step, replicas));
    }

    /** Updates this rank's weights by the gradients in use, which are zero afterwards, and the operands of products. */
    public void step(double learningRate, double gradientScale, long updateNumber) {
        buffers.beginUpdate();
        biases.step();
        elements.step(learningRate, gradientScale, updateNumber);
        matrices.ifPresent(some -> some.step(learningRate, gradientScale));
        feedback.ifPresent(some -> some.correct(updateNumber));
        if (!writesOperands) {
            buffers.weightsUpdated();
        }
    }

    /** Closes the room of state in a store; tensors are closed with the buffers. */
    @Override
    public void close() {
        elements.close();
    }

    /** Appends this rank's part of the moments of a parameter under their names. */
    public void addTo(List<StateTensor> state, Parameter parameter, boolean copy) {
        elements.addTo(state, parameter, copy);
        matrices.ifPresent(some -> some.addTo(state, parameter, copy));
        feedback.ifPresent(some -> some.addTo(state, parameter, copy));
        outer.ifPresent(some -> some.addTo(state, parameter, copy));
    }
}
