package dev.troupe.engine;

import java.util.Locale;

/** The calls of an {@link Engine} that take time, a constant for each method; overloads have one constant. */
public enum Kernel {
    // @formatter:off
    ALLOCATE(Kind.TRANSFER),
    COPY_TO_HOST(Kind.TRANSFER),
    COPY_FROM_HOST(Kind.TRANSFER),
    FILL(Kind.TRANSFER),
    COPY(Kind.TRANSFER),
    CAST(Kind.TRANSFER),
    ADD(Kind.ARITHMETIC),
    SCALE(Kind.ARITHMETIC),
    SUM(Kind.REPORT),
    SQUARED_SUM(Kind.REPORT),
    DIGEST(Kind.REPORT),
    MATMUL(Kind.ARITHMETIC),
    LINEAR(Kind.ARITHMETIC),
    LINEAR_GELU(Kind.ARITHMETIC),
    GELU(Kind.ARITHMETIC),
    GELU_BACKWARD(Kind.ARITHMETIC),
    SWI_GLU(Kind.ARITHMETIC),
    SWI_GLU_BACKWARD(Kind.ARITHMETIC),
    BIAS_BACKWARD(Kind.ARITHMETIC),
    LAYER_NORM(Kind.NORM),
    LAYER_NORM_BACKWARD_INPUT(Kind.NORM),
    LAYER_NORM_BACKWARD_WEIGHT(Kind.NORM),
    LAYER_NORM_BACKWARD(Kind.NORM),
    RMS_NORM(Kind.NORM),
    RMS_NORM_BACKWARD_INPUT(Kind.NORM),
    RMS_NORM_BACKWARD_WEIGHT(Kind.NORM),
    RMS_NORM_BACKWARD(Kind.NORM),
    EMBEDDING(Kind.ARITHMETIC),
    EMBEDDING_BACKWARD(Kind.ARITHMETIC),
    CAUSAL_ATTENTION(Kind.ARITHMETIC),
    CAUSAL_ATTENTION_BACKWARD(Kind.ARITHMETIC),
    GROUPED_ATTENTION(Kind.ARITHMETIC),
    GROUPED_ATTENTION_BACKWARD(Kind.ARITHMETIC),
    CACHED_ATTENTION(Kind.ARITHMETIC),
    ROTARY(Kind.ARITHMETIC),
    DROPOUT(Kind.ARITHMETIC),
    CROSS_ENTROPY(Kind.ARITHMETIC),
    CROSS_ENTROPY_BACKWARD(Kind.ARITHMETIC),
    CROSS_ENTROPY_BOTH(Kind.ARITHMETIC),
    SHARD_SUM(Kind.ARITHMETIC),
    JOIN_SHARDS(Kind.ARITHMETIC),
    ROUTE(Kind.ARITHMETIC),
    ROUTE_BACKWARD(Kind.ARITHMETIC),
    ROUTING_TABLES(Kind.ARITHMETIC),
    GATHER_ROWS(Kind.TRANSFER),
    COMBINE_ROWS(Kind.ARITHMETIC),
    COMBINE_ROWS_BACKWARD(Kind.ARITHMETIC),
    SEGMENT_MATMUL(Kind.ARITHMETIC),
    SEGMENT_MATMUL_BACKWARD(Kind.ARITHMETIC),
    ADD_LOADS(Kind.ARITHMETIC),
    PLACE_CHOICES(Kind.ARITHMETIC),
    ROUTER_Z_LOSS(Kind.ARITHMETIC),
    ROUTER_Z_LOSS_BACKWARD(Kind.ARITHMETIC),
    ADAM_W(Kind.ARITHMETIC),
    SGD(Kind.ARITHMETIC),
    SGD_MOMENTUM(Kind.ARITHMETIC);
    // @formatter:on

    /** The effect of a call on numbers. */
    public enum Kind {
        /** Numbers are moved, set or rounded. */
        TRANSFER,
        /** Numbers are reported on: sums and digests. */
        REPORT,
        /** A norm or its gradient. */
        NORM,
        /** All other arithmetic. */
        ARITHMETIC
    }

    private final Kind kind;
    private final String method;

    Kernel(Kind kind) {
        this.kind = kind;
        StringBuilder camelCase = new StringBuilder();
        for (String word : name().split("_")) {
            camelCase.append(word.charAt(0)).append(word.substring(1).toLowerCase(Locale.ROOT));
        }
        camelCase.setCharAt(0, Character.toLowerCase(camelCase.charAt(0)));
        method = camelCase.toString();
    }

    public Kind kind() {
        return kind;
    }

    public String method() {
        return method;
    }
}
