package dev.troupe.layer;

import dev.troupe.model.spec.ParameterSpec;
import java.util.List;

/**
 * What {@code y = x weight + bias} is trained by.
 *
 * @param weight
 *            [inputs x outputs]
 * @param bias
 *            [outputs]
 */
public record Linear(ParameterSpec weight, ParameterSpec bias) {
    /** Both. */
    public List<ParameterSpec> parameters() {
        return List.of(weight, bias);
    }
}
