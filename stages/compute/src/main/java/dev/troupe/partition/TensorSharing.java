package dev.troupe.partition;

import dev.troupe.model.LayerSpec;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.parallel.StreamSharding;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The check that a tensor-parallel group can divide a model. */
public final class TensorSharing {
    private TensorSharing() {
    }

    /**
     * Returns the reason why the ranks of a group cannot divide each stage of a model; empty if they can. Each rank has
     * whole heads. The inner width must be divisible too, since all ranks of a group have the same parameter layout. The
     * vocabulary need not be, since its tables have buckets of their own.
     *
     * @param rows of a microbatch: microbatch size times sequence length
     * @param ranks {@code parallel.tensor}
     * @param sharding the layers that the ranks divide
     * @param inputs {@code training.recompute-partition}
     * @return a sentence for the user
     */
    public static Optional<String> refusal(ModelSpec model, int rows, int ranks, StreamSharding sharding,
            boolean inputs) {
        List<String> why = new ArrayList<>();
        int heads = model.size(Axis.HEADS);
        int vocabulary = model.size(Axis.VOCABULARY);
        boolean dividesHeads = divides(model, sharding, Axis.ATTENDED);
        if (dividesHeads && heads % ranks != 0) {
            why.add("the " + heads + " attention heads (model.heads) are not divisible by " + ranks);
        }
        if (dividesHeads && model.has(Axis.KEY_VALUE_HEADS) && model.size(Axis.KEY_VALUE_HEADS) % ranks != 0) {
            why.add("the " + model.size(Axis.KEY_VALUE_HEADS)
                    + " heads with keys and values (model.key-value-heads) are not divisible by " + ranks);
        }
        if (divides(model, sharding, Axis.INNER) && model.size(Axis.INNER) % ranks != 0) {
            why.add("the inner width of " + model.size(Axis.INNER) + " (model.inner) is not divisible by " + ranks);
        }
        if (divides(model, sharding, Axis.EXPERT_INNER) && model.size(Axis.EXPERT_INNER) % ranks != 0) {
            why.add("the inner width of an expert of " + model.size(Axis.EXPERT_INNER)
                    + " (model.expert-inner) is not divisible by " + ranks);
        }
        if (divides(model, sharding, Axis.SHARED_INNER) && model.size(Axis.SHARED_INNER) % ranks != 0) {
            why.add("the inner width of the shared experts of " + model.size(Axis.SHARED_INNER)
                    + " (model.shared-experts x model.expert-inner) is not divisible by " + ranks);
        }
        if (divides(model, sharding, Axis.VOCABULARY) && vocabulary < ranks) {
            why.add("a vocabulary of " + vocabulary + " (model.vocabulary-size) has no token for each of "
                    + ranks);
        }
        if ((sharding.cutsRows() || inputs) && rows % ranks != 0) {
            why.add("the " + rows + " rows of a microbatch (microbatch size times sequence length), which "
                    + (sharding.cutsRows() ? "parallel.sequence" : "training.recompute-partition")
                    + " divides, are not divisible by " + ranks);
        }
        return why.isEmpty()
                ? Optional.empty()
                : Optional.of("parallel.tensor = " + ranks + " ranks cannot share a stage: " + String.join("; ", why)
                        + ": change one or the other");
    }

    /** Returns whether the ranks divide a layer that has parameters with this axis. */
    private static boolean divides(ModelSpec model, StreamSharding sharding, Axis axis) {
        for (int layer = 0; layer < model.layers().size(); layer++) {
            if (!sharding.isWhole(layer) && model.layers().get(layer).has(axis)) {
                return true;
            }
        }
        return false;
    }
}
