package dev.troupe.model;

import dev.troupe.model.spec.ParameterSpec;
import java.util.List;

/**
 * A parameter of several layers: its gradient is the sum over all its layers, which may be on several stages with a copy of
 * its weights each.
 *
 * @param parameter the one that all of them use
 * @param layers the numbers of the layers that use it, ascending
 */
public record SharedParameter(ParameterSpec parameter, List<Integer> layers) {
    public SharedParameter {
        layers = List.copyOf(layers);
    }
}
