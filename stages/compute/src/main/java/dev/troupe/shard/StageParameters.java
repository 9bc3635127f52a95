package dev.troupe.shard;

import dev.troupe.layer.Layer;
import dev.troupe.layer.Parameter;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.parallel.ParameterGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The trained parameters of a stage's layers: those that each layer uses, and those with weights on the stage; and the
 * frozen ones.
 */
public final class StageParameters {
    private final List<Layer> layers;
    private final List<List<Parameter>> owned;
    private final List<Parameter> frozen;
    private final List<ParameterSpec> shared;

    /** @param shared the trained parameters of the model that several layers use, on any stages */
    public StageParameters(List<Layer> layers, List<ParameterSpec> shared) {
        this.layers = layers;
        this.owned = layers.stream().map(layer -> trained(layer).filter(parameter -> parameter.owner() == parameter)
                .toList()).toList();
        this.frozen = layers.stream().flatMap(layer -> layer.parameters().stream())
                .filter(parameter -> parameter.owner() == parameter && !parameter.spec().isTrained()).toList();
        this.shared = shared;
    }

    private static Stream<Parameter> trained(Layer layer) {
        return layer.parameters().stream().filter(parameter -> parameter.spec().isTrained());
    }

    /** Returns every frozen parameter with weights on this stage, each once. */
    public List<Parameter> frozen() {
        return frozen;
    }

    /** Returns the frozen parameters in groups that are gathered together if ranks divide them, as {@link #buckets}. */
    List<List<Parameter>> frozenBuckets() {
        return buckets(layers.stream().map(layer -> layer.parameters().stream().filter(frozen::contains).toList())
                .toList());
    }

    /** Returns every trained parameter with weights on this stage, each once. */
    public List<Parameter> all() {
        return owned.stream().flatMap(List::stream).toList();
    }

    /**
     * Returns the parameters of the stage in groups that are sent together if several ranks hold them. A group is a layer
     * without vocabulary tables, or its experts if other ranks hold these. A tied table is exchanged between stages by
     * itself. A table that a tensor-parallel group divides unevenly would make the ranks' shares of their common parameters
     * unequal.
     */
    List<List<Parameter>> buckets() {
        return buckets(owned);
    }

    private static List<List<Parameter>> buckets(List<List<Parameter>> ofLayers) {
        List<List<Parameter>> buckets = new ArrayList<>();
        for (List<Parameter> ofLayer : ofLayers) {
            ofLayer.stream().filter(parameter -> parameter.spec().isVocabularyTable()).map(List::of)
                    .forEach(buckets::add);
            for (ParameterGroup group : ParameterGroup.values()) {
                buckets.add(ofLayer.stream().filter(
                        parameter -> !parameter.spec().isVocabularyTable() && parameter.group() == group).toList());
            }
        }
        return buckets;
    }

    /**
     * Returns for each layer the parameters with gradients that are final after its last backward, before the sum of shared
     * ones.
     */
    List<List<Parameter>> finalWithLayers() {
        return owned.stream()
                .map(ofLayer -> ofLayer.stream().filter(parameter -> !shared.contains(parameter.spec())).toList())
                .toList();
    }

    /** Returns for each layer all parameters, including frozen ones and second uses. */
    List<List<Parameter>> read() {
        return layers.stream().map(Layer::parameters).toList();
    }

    /** Returns for each layer the trained parameters that it uses, including a second use of another layer's. */
    public List<List<Parameter>> used() {
        return layers.stream().map(layer -> trained(layer).toList()).toList();
    }

    /** Returns the second use of a parameter by a layer of the same stage; null if there is none. */
    Parameter secondUse() {
        return used().stream().flatMap(List::stream).filter(parameter -> parameter.owner() != parameter).findFirst()
                .orElse(null);
    }

    boolean firstReadsBackwards() {
        return layers.getFirst().readsWeightsBackwards();
    }
}
