package dev.troupe.optimizer;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.Engine;
import dev.troupe.engine.OptimizerKernels.Momentum;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.Parameter;
import dev.troupe.shard.BufferLayout.Run;
import dev.troupe.shard.FlatBuffer;
import dev.troupe.shard.StageBuffers;
import dev.troupe.shard.StateTensor;
import java.util.List;
import java.util.stream.Stream;

/** The optimizer of a stage with what it remembers between updates: each update is one kernel call a kind of decay. */
public final class OptimizerState {
    private static final String PREFIX = "optimizer.";

    private final Engine engine;
    private final StageBuffers buffers;
    private final Optimizer optimizer;
    /** In the order of {@link Optimizer#moments}. */
    private final List<FlatBuffer> moments;
    /** By the sum of gradients that an update uses. */
    private final List<List<Part>> parts;

    /** Neighbouring parameters that are updated alike. */
    private record Part(boolean decays, Tensor weights, Tensor gradients, List<Tensor> moments) {
    }

    public OptimizerState(Engine engine, StageBuffers buffers, Optimizer optimizer) {
        this.engine = engine;
        this.buffers = buffers;
        this.optimizer = optimizer;
        this.moments = Stream.generate(buffers::allocateMoments).limit(optimizer.moments().size()).toList();
        this.parts = buffers.gradientSums().stream()
                .map(gradients -> buffers.runs().stream().map(run -> part(run, gradients)).toList()).toList();
    }

    private Part part(Run run, FlatBuffer gradients) {
        return new Part(run.decays(), buffers.weights().part(run.piece()), gradients.part(run.piece()),
                moments.stream().map(moment -> moment.part(run.piece())).toList());
    }

    /** Updates the weights that are this rank's to update by the gradients in use, which are zero afterwards. */
    public void step(double learningRate, double gradientScale, long updateNumber) {
        buffers.beginUpdate();
        for (Part part : parts.get(buffers.sumIndex())) {
            switch (optimizer) {
                case Optimizer.AdamW(double beta1, double beta2, double epsilon, double weightDecay) ->
                    engine.adamW(part.weights, part.gradients, part.moments.get(0), part.moments.get(1),
                            new AdamW(learningRate, beta1, beta2, epsilon, part.decays ? weightDecay : 0, updateNumber,
                                    gradientScale));
                case Optimizer.Sgd(double weightDecay, double momentum, boolean nesterov) -> {
                    double decay = part.decays ? weightDecay : 0;
                    if (momentum > 0) {
                        engine.sgdMomentum(part.weights, part.gradients, part.moments.getFirst(),
                                new Momentum(learningRate, momentum, nesterov, decay, gradientScale));
                    } else {
                        engine.sgd(part.weights, part.gradients, learningRate, decay, gradientScale);
                    }
                }
            }
        }
    }

    /** Appends what this rank has of the moments of a parameter under their names. */
    public void addTo(List<StateTensor> state, Parameter parameter, boolean copy) {
        for (int index = 0; index < moments.size(); index++) {
            String name = PREFIX + optimizer.moments().get(index) + "." + parameter.name();
            buffers.held(name, parameter, moments.get(index), copy).ifPresent(state::add);
        }
    }
}
