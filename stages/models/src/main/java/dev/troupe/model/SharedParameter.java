package dev.troupe.model;

import dev.troupe.model.spec.ParameterSpec;
import java.util.List;

/**
 * A parameter of several layers, which may be on several stages with a copy of the weights each. Its gradient is the sum
 * over all of them.
 *
 * @param parameter the one that all of them use
 * @param layers the numbers of the layers that use it, ascending
 */
public record SharedParameter(ParameterSpec parameter, List<Integer> layers) {
    public SharedParameter {
        layers = List.copyOf(layers);
    }
}
