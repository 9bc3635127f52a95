package dev.troupe.partition;

import dev.troupe.model.LayerSpec;
import dev.troupe.model.ModelSpec;
import java.util.List;

/**
 * A range of consecutive layers of a model, by their index in {@link ModelSpec#layers}.
 * @param last the last layer, included
 */
public record LayerRange(int first, int last) {
    public LayerRange {
        if (first < 0 || last < first) {
            throw new IllegalArgumentException(
                    "a range of layers must hold at least one layer, but found " + first + " to " + last);
        }
    }

    public int size() {
        return last - first + 1;
    }

    public List<LayerSpec> of(ModelSpec model) {
        return model.layers().subList(first, last + 1);
    }
}
