package dev.troupe.model;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import java.util.List;

/** The optimizer of one parameter with what it remembers between updates. */
final class OptimizerState implements AutoCloseable {
    private static final String FIRST_MOMENT = "optimizer.exp_avg.";
    private static final String SECOND_MOMENT = "optimizer.exp_avg_sq.";

    private final Engine engine;
    private final Parameter parameter;
    private final Optimizer optimizer;
    // Both null for an optimizer that remembers nothing.
    private final Tensor firstMoment;
    private final Tensor secondMoment;

    OptimizerState(Engine engine, Parameter parameter, Optimizer optimizer) {
        this.engine = engine;
        this.parameter = parameter;
        this.optimizer = optimizer;
        boolean moments = switch (optimizer) {
            case Optimizer.AdamW adamW -> true;
            case Optimizer.Sgd sgd -> false;
        };
        this.firstMoment = moments ? engine.allocate(engine.floatType(), parameter.shape()) : null;
        this.secondMoment = moments ? engine.allocate(engine.floatType(), parameter.shape()) : null;
    }

    Parameter parameter() {
        return parameter;
    }

    void step(double learningRate, double gradientScale, long updateNumber) {
        switch (optimizer) {
            case Optimizer.AdamW(double beta1, double beta2, double epsilon, double weightDecay) ->
                engine.adamW(parameter.weights(), parameter.gradient(), firstMoment, secondMoment,
                        new AdamW(learningRate,
                                beta1, beta2, epsilon, parameter.decays() ? weightDecay : 0, updateNumber,
                                gradientScale));
            case Optimizer.Sgd(double weightDecay) ->
                engine.sgd(parameter.weights(), parameter.gradient(), learningRate,
                        parameter.decays() ? weightDecay : 0, gradientScale);
        }
    }

    /** Appends the moments under their names. */
    void addTo(List<StateTensor> state, boolean tiedCopy) {
        if (firstMoment != null) {
            state.add(new StateTensor(FIRST_MOMENT + parameter.name(), firstMoment, tiedCopy));
            state.add(new StateTensor(SECOND_MOMENT + parameter.name(), secondMoment, tiedCopy));
        }
    }

    @Override
    public void close() {
        if (firstMoment != null) {
            firstMoment.close();
            secondMoment.close();
        }
    }
}
