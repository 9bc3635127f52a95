package dev.troupe.sharding;

import dev.troupe.model.LayerSpec;
import dev.troupe.model.ModelSpec;
import java.util.List;
import java.util.Optional;

/**
 * A sharding plan: how the ranks of a place of the pipeline divide the parameters and activations of a model, with each move
 * between them (Shazeer et al. 2018; Xu et al. 2021, GSPMD). Immutable.
 *
 * @param common lines on the batch and on all weights
 * @param layers plans of layers; each layer of a model has one
 */
public record ShardingPlan(List<PlanLine> common, List<LayerPlan> layers) {
    public ShardingPlan {
        common = List.copyOf(common);
        layers = List.copyOf(layers);
    }

    /**
     * Reads a plan in any of its forms: layers, rules such as {@code heads, inner -> tensor}, or a dictionary of PyTorch.
     *
     * @throws ShardingException with the line at fault
     */
    public static ShardingPlan read(String text, ModelSpec model) {
        if (text.contains("{")) {
            return TorchPlan.read(text, model);
        }
        return ShardingText.isOfLayers(text) ? ShardingText.read(text) : ShardingRules.read(text).plan(model);
    }

    /** Returns the plan of a layer; empty if it has none. */
    Optional<LayerPlan> of(LayerSpec layer) {
        return layers.stream().filter(plan -> plan.isOf(layer.name())).findFirst();
    }
}
