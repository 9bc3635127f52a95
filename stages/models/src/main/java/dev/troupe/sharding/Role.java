package dev.troupe.sharding;

import dev.troupe.model.LayerSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.model.spec.Split;
import java.util.Locale;

/** The place of a parameter in the computation of its layer, which follows from the model's declaration. */
enum Role {
    /** A norm of the residual stream. */
    NORM,
    /** A matrix out of the stream, of which ranks may have some outputs ("columnwise"). */
    COLUMN,
    /** The bias of such a matrix. */
    COLUMN_BIAS,
    /** A norm of each head. */
    HEAD_NORM,
    /** The matrix of a router. */
    ROUTER,
    /** The bias of a router's choice, which has no gradient. */
    CHOICE_BIAS,
    /** A matrix into the stream, of which ranks may have some inputs ("rowwise"). */
    ROW,
    /** The bias of such a matrix, or positions: an addend of the layer's result. */
    ADDEND,
    /** The first matrix of an adapter of a {@link #COLUMN}. */
    COLUMN_ADAPTER_DOWN,
    /** The second one. */
    COLUMN_ADAPTER_UP,
    /** The first matrix of an adapter of a {@link #ROW}. */
    ROW_ADAPTER_DOWN,
    /** The second one. */
    ROW_ADAPTER_UP,
    /** The table of an embedding. */
    EMBEDDING,
    /** The table of the head. */
    HEAD;

    private static final String WEIGHT = ".weight";
    private static final String BIAS = ".bias";

    /**
     * Returns the role of a parameter of a layer.
     *
     * @param inputsFirst whether matrices are stored [inputs x outputs]
     */
    static Role of(ParameterSpec parameter, LayerSpec layer, boolean inputsFirst) {
        if (has(parameter, Axis.VOCABULARY)) {
            return layer.letter() == 'E' ? EMBEDDING : HEAD;
        }
        if (has(parameter, Axis.ADAPTER)) {
            return ofAdapter(parameter, layer, inputsFirst);
        }
        if (parameter.isHiddenMatrix()) {
            return isRow(parameter, inputsFirst) ? ROW : COLUMN;
        }
        if (parameter.followsLoads()) {
            return CHOICE_BIAS;
        }
        if (has(parameter, Axis.EXPERTS)) {
            return ROUTER;
        }
        if (has(parameter, Axis.HEAD)) {
            return HEAD_NORM;
        }
        if (has(parameter, Axis.POSITION)) {
            return ADDEND;
        }
        return layer.parameters().stream()
                .filter(other -> other.isHiddenMatrix() && parameter.name().endsWith(BIAS) && other.name()
                        .equals(parameter.name().substring(0, parameter.name().length() - BIAS.length()) + WEIGHT))
                .findFirst().map(matrix -> isRow(matrix, inputsFirst) ? ADDEND : COLUMN_BIAS).orElse(NORM);
    }

    private static Role ofAdapter(ParameterSpec parameter, LayerSpec layer, boolean inputsFirst) {
        boolean isDown = parameter.shape().dimensions().getFirst().axis() == Axis.ADAPTER;
        String adapter = parameter.name();
        ParameterSpec matrix = layer.parameters().stream()
                .filter(other -> other.isHiddenMatrix() && adapter.startsWith(
                        other.name().substring(0, other.name().length() - WEIGHT.length()) + "."))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("the adapter " + adapter + " has no matrix"));
        if (isRow(matrix, inputsFirst)) {
            return isDown ? ROW_ADAPTER_DOWN : ROW_ADAPTER_UP;
        }
        return isDown ? COLUMN_ADAPTER_DOWN : COLUMN_ADAPTER_UP;
    }

    private static boolean isRow(ParameterSpec matrix, boolean inputsFirst) {
        return matrix.split() instanceof Split.Along(Axis axis, var _)
                && matrix.shape().dimensionOf(axis) == (inputsFirst ? 0 : 1);
    }

    private static boolean has(ParameterSpec parameter, Axis axis) {
        return parameter.shape().dimensions().stream().anyMatch(dimension -> dimension.axis() == axis);
    }

    /** Returns an axis in the words of a plan. */
    static String word(Axis axis) {
        return axis.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
