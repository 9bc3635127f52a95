package dev.troupe.model;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The optimizer of a stage with what it remembers between updates: each update is one kernel call a kind of decay. */
final class OptimizerState {
    private static final String FIRST_MOMENT = "optimizer.exp_avg.";
    private static final String SECOND_MOMENT = "optimizer.exp_avg_sq.";

    private final Engine engine;
    private final StageBuffers buffers;
    private final Optimizer optimizer;
    // Both null for an optimizer that remembers nothing.
    private final Tensor firstMoments;
    private final Tensor secondMoments;
    private final List<Part> parts;

    /** Neighbouring parameters that are updated alike; the moments are null where there are none. */
    private record Part(boolean decays, Tensor weights, Tensor gradients, Tensor firstMoments, Tensor secondMoments) {
    }

    OptimizerState(Engine engine, StageBuffers buffers, Optimizer optimizer) {
        this.engine = engine;
        this.buffers = buffers;
        this.optimizer = optimizer;
        boolean moments = switch (optimizer) {
            case Optimizer.AdamW adamW -> true;
            case Optimizer.Sgd sgd -> false;
        };
        this.firstMoments = moments ? buffers.allocate() : null;
        this.secondMoments = moments ? buffers.allocate() : null;
        long decaying = buffers.layout().decayingCount();
        this.parts = Stream.of(part(true, 0, decaying), part(false, decaying, buffers.layout().elementCount()))
                .flatMap(Optional::stream).toList();
    }

    private Optional<Part> part(boolean decays, long from, long to) {
        return from == to
                ? Optional.empty()
                : Optional.of(new Part(decays, range(buffers.weights(), from, to),
                        range(buffers.gradients(), from, to), range(firstMoments, from, to),
                        range(secondMoments, from, to)));
    }

    private Tensor range(Tensor buffer, long from, long to) {
        return buffer == null ? null : engine.range(buffer, from, Shape.of(Math.toIntExact(to - from)));
    }

    /** Updates all weights; the gradients are zero afterwards. */
    void step(double learningRate, double gradientScale, long updateNumber) {
        for (Part part : parts) {
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

    /** Appends the moments of a parameter under their names. */
    void addTo(List<StateTensor> state, Parameter parameter, boolean copy) {
        if (firstMoments != null) {
            state.add(new StateTensor(FIRST_MOMENT + parameter.name(), buffers.rangeOf(parameter, firstMoments),
                    parameter.slice(), copy));
            state.add(new StateTensor(SECOND_MOMENT + parameter.name(), buffers.rangeOf(parameter, secondMoments),
                    parameter.slice(), copy));
        }
    }
}
