package dev.troupe.engine;

import java.util.Locale;

/** The calls of an {@link Engine} that take time, a constant for each method; overloads have one constant. */
public enum Kernel {
    ALLOCATE, COPY_TO_HOST, COPY_FROM_HOST, FILL, COPY, CAST, ADD, SCALE, SUM, SQUARED_SUM, DIGEST, MATMUL, LINEAR, LINEAR_GELU, GELU, GELU_BACKWARD, SWI_GLU, SWI_GLU_BACKWARD, BIAS_BACKWARD, LAYER_NORM, LAYER_NORM_BACKWARD_INPUT, LAYER_NORM_BACKWARD_WEIGHT, LAYER_NORM_BACKWARD, RMS_NORM, RMS_NORM_BACKWARD_INPUT, RMS_NORM_BACKWARD_WEIGHT, RMS_NORM_BACKWARD, EMBEDDING, EMBEDDING_BACKWARD, CAUSAL_ATTENTION, CAUSAL_ATTENTION_BACKWARD, GROUPED_ATTENTION, GROUPED_ATTENTION_BACKWARD, CACHED_ATTENTION, ROTARY, DROPOUT, CROSS_ENTROPY, CROSS_ENTROPY_BACKWARD, CROSS_ENTROPY_BOTH, SHARD_SUM, JOIN_SHARDS, ADAM_W, SGD, SGD_MOMENTUM;

    private final String method;

    Kernel() {
        StringBuilder camelCase = new StringBuilder();
        for (String word : name().split("_")) {
            camelCase.append(word.charAt(0)).append(word.substring(1).toLowerCase(Locale.ROOT));
        }
        camelCase.setCharAt(0, Character.toLowerCase(camelCase.charAt(0)));
        method = camelCase.toString();
    }

    /** The name of the method. */
    public String method() {
        return method;
    }
}
