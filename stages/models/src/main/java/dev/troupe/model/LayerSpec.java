package dev.troupe.model;

import dev.troupe.layer.Layer;
import dev.troupe.layer.LayerContext;
import dev.troupe.model.spec.LayerCosts;
import dev.troupe.model.spec.ParameterSpec;
import java.util.List;

/**
 * One layer of a model, the unit of partition, as a declaration before any rank has it.
 *
 * @param name unique in its model, such as {@code h.3.attention}
 * @param block the block that it is a half of; its own name for a layer that is no half
 * @param letter its letter in a layout string
 * @param parameters its parameters, in the order of the published model; one that another layer names too is shared
 * @param costs its operations
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
        /** Returns the layer with this rank's share of its parameters, which are still to be placed. */
        Layer in(LayerContext context);
    }

    public LayerSpec {
        parameters = List.copyOf(parameters);
    }

    public boolean isHalf() {
        return !name.equals(block);
    }

    /**
     * Returns the operations of products in the backward for the weights, given its costs for N rows: frozen weights have
     * none, and an adapter computes its inner products again.
     */
    public double weightProducts(LayerCosts ofRows, int rows) {
        if (parameters.stream().allMatch(ParameterSpec::isTrained)) {
            return ofRows.products();
        }
        long trained = parameters.stream().filter(ParameterSpec::isTrained).mapToLong(ParameterSpec::elementCount)
                .sum();
        return 4.0 * rows * trained;
    }

    /** Returns the count of its numbers; a shared parameter counts in each of its layers. */
    public long parameterCount() {
        return parameters.stream().mapToLong(ParameterSpec::elementCount).sum();
    }
}
