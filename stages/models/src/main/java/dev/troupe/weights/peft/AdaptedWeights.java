package dev.troupe.weights.peft;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.MemorySegment;

/**
 * The weights of a model with adapters: frozen ones from one source, trained ones, with the optimizer's state, from another.
 *
 * @param adapters has everything else
 */
public record AdaptedWeights(ModelSpec model, WeightSource base, WeightSource adapters) implements WeightSource {
    @Override
    public void read(String name, Shape shape, DataType parameterType, MemorySegment target) {
        sourceOf(name).read(name, shape, parameterType, target);
    }

    @Override
    public void requireNumbers(String name, DataType parameterType) {
        sourceOf(name).requireNumbers(name, parameterType);
    }

    private WeightSource sourceOf(String name) {
        ParameterSpec parameter = model.parameters().get(name);
        boolean isFrozen = parameter != null && !parameter.isTrained();
        return isFrozen ? base : adapters;
    }
}
