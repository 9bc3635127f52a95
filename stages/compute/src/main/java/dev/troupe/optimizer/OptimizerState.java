package dev.troupe.optimizer;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.Parameter;
import dev.troupe.shard.BufferLayout.Run;
import dev.troupe.shard.FlatBuffer;
import dev.troupe.shard.StageBuffers;
import dev.troupe.shard.StateTensor;
import java.util.List;

/** The optimizer of a stage with what it remembers between updates: each update is one kernel call a kind of decay. */
public final class OptimizerState {
    private static final String FIRST_MOMENT = "optimizer.exp_avg.";
    private static final String SECOND_MOMENT = "optimizer.exp_avg_sq.";

    private final Engine engine;
    private final StageBuffers buffers;
    private final Optimizer optimizer;
    // Both null for an optimizer that remembers nothing.
    private final FlatBuffer firstMoments;
    private final FlatBuffer secondMoments;
    /** By the sum of gradients that an update uses. */
    private final List<List<Part>> parts;

    /** Neighbouring parameters that are updated alike; the moments are null where there are none. */
    private record Part(boolean decays, Tensor weights, Tensor gradients, Tensor firstMoments, Tensor secondMoments) {
    }

    public OptimizerState(Engine engine, StageBuffers buffers, Optimizer optimizer) {
        this.engine = engine;
        this.buffers = buffers;
        this.optimizer = optimizer;
        boolean moments = optimizer.momentCount() > 0;
        this.firstMoments = moments ? buffers.allocateMoments() : null;
        this.secondMoments = moments ? buffers.allocateMoments() : null;
        this.parts = buffers.gradientSums().stream()
                .map(gradients -> buffers.runs().stream().map(run -> part(run, gradients)).toList()).toList();
    }

    private Part part(Run run, FlatBuffer gradients) {
        return new Part(run.decays(), buffers.weights().part(run.piece()), gradients.part(run.piece()),
                firstMoments == null ? null : firstMoments.part(run.piece()),
                secondMoments == null ? null : secondMoments.part(run.piece()));
    }

    /** Updates the weights that are this rank's to update by the gradients in use, which are zero afterwards. */
    public void step(double learningRate, double gradientScale, long updateNumber) {
        buffers.beginUpdate();
        for (Part part : parts.get(buffers.sumIndex())) {
            switch (optimizer) {
                case Optimizer.AdamW(double beta1, double beta2, double epsilon, double weightDecay) ->
                    engine.adamW(part.weights, part.gradients, part.firstMoments, part.secondMoments,
                            new AdamW(learningRate, beta1, beta2, epsilon, part.decays ? weightDecay : 0, updateNumber,
                                    gradientScale));
                case Optimizer.Sgd(double weightDecay) -> engine.sgd(part.weights, part.gradients, learningRate,
                        part.decays ? weightDecay : 0, gradientScale);
            }
        }
    }

    /** Appends what this rank has of the moments of a parameter under their names. */
    public void addTo(List<StateTensor> state, Parameter parameter, boolean copy) {
        if (firstMoments != null) {
            buffers.held(FIRST_MOMENT + parameter.name(), parameter, firstMoments, copy).ifPresent(state::add);
            buffers.held(SECOND_MOMENT + parameter.name(), parameter, secondMoments, copy).ifPresent(state::add);
        }
    }
}
