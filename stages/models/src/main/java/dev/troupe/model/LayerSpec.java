package dev.troupe.model;

import dev.troupe.layer.Layer;
import dev.troupe.layer.LayerContext;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.LayerCosts;
import dev.troupe.model.spec.ParameterSpec;
import java.util.List;

/**
 * The declaration of one layer of a model, the unit of partition.
 *
 * @param name unique in its model, such as {@code h.3.attention}
 * @param block the name of its block; its own name if it is no half of a block
 * @param parameters its parameters, in the order of the published model; a parameter that several layers name is shared
 * @param build makes it on a rank
 */
public record LayerSpec(String name, String block, char letter, List<ParameterSpec> parameters, Costs costs,
        Build build) {
    /** The operations of a layer. */
    @FunctionalInterface
    public interface Costs {
        /**
         * Returns the operations for one microbatch.
         *
         * @param rows N, sequences times tokens
         * @param sequenceLength T
         */
        LayerCosts of(int rows, int sequenceLength);
    }

    /** The factory of a layer on a rank. */
    @FunctionalInterface
    public interface Build {
        /** Returns the layer with this rank's share of its parameters, which have no memory yet. */
        Layer in(LayerContext context);
    }

    public LayerSpec {
        parameters = List.copyOf(parameters);
    }

    public boolean isHalf() {
        return !name.equals(block);
    }

    /**
     * Returns the operations of products in the backward for the weights: frozen weights have none, and an adapter computes
     * its inner products again.
     */
    public double weightProducts(LayerCosts ofRows, int rows) {
        if (parameters.stream().allMatch(ParameterSpec::isTrained)) {
            return ofRows.products();
        }
        long trained = parameters.stream().filter(ParameterSpec::isTrained).mapToLong(ParameterSpec::elementCount)
                .sum();
        return 4.0 * rows * trained;
    }

    /** Returns whether it routes rows to experts. */
    public boolean hasExperts() {
        return has(Axis.EXPERTS);
    }

    /** Returns whether a parameter has this axis. */
    public boolean has(Axis axis) {
        return parameters.stream().anyMatch(parameter -> parameter.shape().dimensions().stream()
                .anyMatch(dimension -> dimension.axis() == axis));
    }

    /** Returns the count of its numbers; a shared parameter counts in each of its layers. */
    public long parameterCount() {
        return parameters.stream().mapToLong(ParameterSpec::elementCount).sum();
    }
}
