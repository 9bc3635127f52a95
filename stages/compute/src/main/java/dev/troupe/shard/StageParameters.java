package dev.troupe.shard;

import dev.troupe.layer.Layer;
import dev.troupe.layer.Parameter;
import dev.troupe.model.spec.ParameterSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The parameters of a stage's layers that are trained: which each layer uses, and which of them have their weights on the
 * stage; and beside them the frozen ones.
 */
public final class StageParameters {
    private final List<Layer> layers;
    private final List<List<Parameter>> owned;
    private final List<Parameter> frozen;
    private final List<ParameterSpec> shared;

    /**
     * @param shared the parameters of the model that are trained and that more than one layer uses, on whichever stages
     */
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

    /** Every frozen parameter whose weights are on this stage, each once. */
    public List<Parameter> frozen() {
        return frozen;
    }

    /** The frozen parameters by what is gathered together where ranks share them out: as {@link #buckets}. */
    List<List<Parameter>> frozenBuckets() {
        return buckets(layers.stream().map(layer -> layer.parameters().stream().filter(frozen::contains).toList())
                .toList());
    }

    /** Every parameter that is trained and whose weights are on this stage, each once. */
    public List<Parameter> all() {
        return owned.stream().flatMap(List::stream).toList();
    }

    /** Those that a layer, counted from the stage's first, is the first to use. */
    public List<Parameter> owned(int layer) {
        return owned.get(layer);
    }

    /**
     * The parameters of the stage by what is sent together if several ranks hold them: a layer's are, but for a table
     * of the vocabulary. A tied one crosses stages by itself, and one that a tensor-parallel group shares out unevenly
     * would leave the ranks of the group with unlike shares of what they all have.
     */
    List<List<Parameter>> buckets() {
        return buckets(owned);
    }

    private static List<List<Parameter>> buckets(List<List<Parameter>> ofLayers) {
        List<List<Parameter>> buckets = new ArrayList<>();
        for (List<Parameter> ofLayer : ofLayers) {
            ofLayer.stream().filter(parameter -> parameter.spec().isVocabularyTable()).map(List::of)
                    .forEach(buckets::add);
            buckets.add(ofLayer.stream().filter(parameter -> !parameter.spec().isVocabularyTable()).toList());
        }
        return buckets;
    }

    /**
     * For each layer the parameters whose gradients are final when its last backward is: those of a shared one still
     * meet.
     */
    List<List<Parameter>> finalWithLayers() {
        return owned.stream()
                .map(ofLayer -> ofLayer.stream().filter(parameter -> !shared.contains(parameter.spec())).toList())
                .toList();
    }

    /** For each layer all parameters, frozen ones and second uses too. */
    List<List<Parameter>> read() {
        return layers.stream().map(Layer::parameters).toList();
    }

    /** For each layer the parameters that it uses and that are trained, a second use of another layer's too. */
    public List<List<Parameter>> used() {
        return layers.stream().map(layer -> trained(layer).toList()).toList();
    }

    /** The second use of a parameter by a layer of the same stage; null if there is none. */
    Parameter secondUse() {
        return used().stream().flatMap(List::stream).filter(parameter -> parameter.owner() != parameter).findFirst()
                .orElse(null);
    }

    /** Whether the first layer reads its weights in its backward. */
    boolean firstReadsBackwards() {
        return layers.getFirst().readsWeightsBackwards();
    }
}
