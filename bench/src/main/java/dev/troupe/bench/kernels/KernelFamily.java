package dev.troupe.bench.kernels;

import static dev.troupe.bench.kernels.Workbench.B;
import static dev.troupe.bench.kernels.Workbench.C;
import static dev.troupe.bench.kernels.Workbench.H;
import static dev.troupe.bench.kernels.Workbench.N;
import static dev.troupe.bench.kernels.Workbench.T;
import static dev.troupe.bench.kernels.Workbench.V;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.OptimizerKernels.Momentum;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * A family of kernels on the same operands, at the sizes of {@link Workbench}.
 *
 * @param work the least work of each call; empty for calls that are limits themselves
 * @param calls allocates the operands on a workbench, and adds each call by its name
 */
record KernelFamily(String name, List<KernelWork> work, BiConsumer<Workbench, Map<String, Runnable>> calls) {
    static final String LIMITS = "CoreLimits";
    /** The side of a product so large that arithmetic takes all its time. */
    static final int SIDE = 2048;
    /** The family with casts, which only an engine of two types has. */
    static final String CASTS = "CastKernels";

    private static final double EPSILON = 1e-5;
    private static final String NARROW = sizes("[%d x %d]", N, C);
    private static final String WIDE = sizes("[%d x %d]", N, 4 * C);
    private static final double ELEMENTS = (double) N * C;
    /** Of one product over the scores below the diagonal, all sequences and heads: 2 B H (T^2 / 2) (C / H). */
    private static final double OF_SCORES = (double) B * T * T * C;
    /**
     * A decay so slow that moments keep their size: gradients are zero, and moments that decay would become subnormal
     * numbers.
     */
    private static final double BETA = 1 - 1e-7;
    private static final AdamW UPDATE = new AdamW(0, BETA, BETA, 1e-8, 0.1, 1, 1);

    /** All families, in the order of the report; the limits are last. */
    static final List<KernelFamily> ALL = List.of(products(), attention(), norms(), rotary(), elementwise(), casts(),
            vocabulary(), ExpertKernels.family(), optimizers(), limits());

    private static String sizes(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    /** Matrix products as a block and the head ask for them. */
    private static KernelFamily products() {
        String name = "ProductKernels";
        return new KernelFamily(name, List.of(KernelWork.product(name, "linear", N, C, 3 * C),
                KernelWork.product(name, "linearGelu", N, C, 4 * C),
                KernelWork.product(name, "matmulForInput", N, 4 * C, C),
                KernelWork.product(name, "matmulForWeight", C, N, 4 * C),
                KernelWork.product(name, "matmulOfHead", N, C, V)), (on, calls) -> {
                    Engine engine = on.engine();
                    Tensor x = on.floats(N, C);
                    Tensor qkvWeight = on.floats(C, 3 * C);
                    Tensor qkvBias = on.floats(3 * C);
                    Tensor qkv = on.floats(N, 3 * C);
                    Tensor innerWeight = on.floats(C, 4 * C);
                    Tensor innerBias = on.floats(4 * C);
                    Tensor preActivation = on.floats(N, 4 * C);
                    Tensor inner = on.floats(N, 4 * C);
                    Tensor dx = on.floats(N, C);
                    Tensor dInnerWeight = on.floats(C, 4 * C);
                    Tensor table = on.floats(V, C);
                    Tensor logits = on.floats(N, V);
                    calls.put("linear", () -> engine.linear(x, qkvWeight, false, qkvBias, qkv));
                    calls.put("linearGelu", () -> engine.linearGelu(x, innerWeight, innerBias, preActivation, inner));
                    calls.put("matmulForInput", () -> engine.matmul(inner, false, innerWeight, true, dx, false));
                    calls.put("matmulForWeight", () -> engine.matmul(x, true, inner, false, dInnerWeight, true));
                    calls.put("matmulOfHead", () -> engine.matmul(x, false, table, true, logits, false));
                });
    }

    /**
     * Causal attention, limited by its products: half of the T x T scores of each head, two products forward and five
     * backward.
     */
    private static KernelFamily attention() {
        String name = "AttentionKernels";
        String sizes = sizes("%d sequences of %d, %d heads of %d", B, T, H, C / H);
        return new KernelFamily(name, List.of(KernelWork.products(name, "causalAttention", sizes, 2 * OF_SCORES),
                KernelWork.products(name, "causalAttentionBackward", sizes, 5 * OF_SCORES)), (on, calls) -> {
                    Engine engine = on.engine();
                    Tensor qkv = on.floats(N, 3 * C);
                    Tensor state = on.zeros(engine.attentionStateShape(B, T, H));
                    Tensor y = on.floats(N, C);
                    Tensor dy = on.floats(N, C);
                    Tensor dQkv = on.floats(N, 3 * C);
                    calls.put("causalAttention", () -> engine.causalAttention(qkv, T, H, state, y));
                    calls.put("causalAttentionBackward",
                            () -> engine.causalAttentionBackward(dy, qkv, y, state, T, H, dQkv));
                    calls.get("causalAttention").run(); // the backward reads its results
                });
    }

    /** Layer norm of the residual stream; the gradient for the input is added to the gradient of the stream. */
    private static KernelFamily norms() {
        String name = "NormKernels";
        return new KernelFamily(name, List.of(KernelWork.memory(name, "layerNorm", NARROW, 2 * ELEMENTS),
                KernelWork.memory(name, "addThenLayerNorm", NARROW + ", two kernels", 4 * ELEMENTS),
                KernelWork.memory(name, "layerNormOfSum", NARROW + ", in one", 4 * ELEMENTS),
                KernelWork.memory(name, "layerNormBackwardInput", NARROW + ", added", 4 * ELEMENTS),
                KernelWork.memory(name, "layerNormBackwardWeight", NARROW, 2 * ELEMENTS),
                KernelWork.memory(name, "layerNormBackwardApart", NARROW + ", two kernels", 4 * ELEMENTS),
                KernelWork.memory(name, "layerNormBackward", NARROW + ", in one", 4 * ELEMENTS)), (on, calls) -> {
                    Engine engine = on.engine();
                    Tensor x = on.floats(N, C);
                    Tensor gamma = on.floats(C);
                    Tensor beta = on.floats(C);
                    Tensor y = on.floats(N, C);
                    Tensor mean = on.floats(N);
                    Tensor deviation = on.floats(N); // its reciprocal
                    Tensor dy = on.floats(N, C);
                    Tensor dx = on.floats(N, C);
                    Tensor dGamma = on.floats(C);
                    Tensor dBeta = on.floats(C);
                    calls.put("layerNorm",
                            () -> engine.layerNorm(null, x, gamma, beta, EPSILON, y, mean, deviation));
                    calls.put("addThenLayerNorm", () -> {
                        engine.add(dx, dy, dy);
                        engine.layerNorm(null, dy, gamma, beta, EPSILON, y, mean, deviation);
                    });
                    calls.put("layerNormOfSum",
                            () -> engine.layerNorm(dx, dy, gamma, beta, EPSILON, y, mean, deviation));
                    Runnable input = () -> engine.layerNormBackwardInput(dy, x, gamma, mean, deviation, dx, true);
                    Runnable weight = () -> engine.layerNormBackwardWeight(dy, x, mean, deviation, dGamma, dBeta);
                    calls.put("layerNormBackwardInput", input);
                    calls.put("layerNormBackwardWeight", weight);
                    calls.put("layerNormBackwardApart", () -> {
                        weight.run();
                        input.run();
                    });
                    calls.put("layerNormBackward",
                            () -> engine.layerNormBackward(dy, x, gamma, mean, deviation, dx, true, dGamma, dBeta));
                    calls.get("layerNorm").run(); // the backward reads its results
                });
    }

    /**
     * The parts of a block of Llama's kind other than its projections: norms by the root mean square, rotary positions,
     * attention with shared keys and values, and the gated unit.
     */
    private static KernelFamily rotary() {
        String name = "RotaryKernels";
        int k = 2; // heads with keys and values
        int d = C / H;
        int inner = 3 * C;
        double innerElements = (double) N * inner;
        String innerSizes = sizes("[%d x %d]", N, inner);
        String heads = sizes("%d sequences of %d, %d heads of %d, %d of them with keys and values", B, T, H, d, k);
        return new KernelFamily(name, List.of(KernelWork.memory(name, "rmsNorm", NARROW, 2 * ELEMENTS),
                KernelWork.memory(name, "rmsNormBackwardInput", NARROW + ", added", 4 * ELEMENTS),
                KernelWork.memory(name, "rmsNormBackwardWeight", NARROW, 2 * ELEMENTS),
                KernelWork.memory(name, "rmsNormBackward", NARROW + ", both in one", 4 * ELEMENTS),
                KernelWork.memory(name, "rotary", NARROW + ", in place", 2 * ELEMENTS),
                KernelWork.products(name, "groupedAttention", heads, 2 * OF_SCORES),
                KernelWork.products(name, "groupedAttentionBackward", heads, 5 * OF_SCORES),
                KernelWork.memory(name, "cachedAttention", sizes(
                        "one query after %d keys, %d heads of %d, %d of them with keys and values", N, H, d, k),
                        2.0 * N * k * d),
                KernelWork.memory(name, "swiGlu", innerSizes, 3 * innerElements),
                KernelWork.memory(name, "swiGluBackward", innerSizes, 5 * innerElements)), (on, calls) -> {
                    Engine engine = on.engine();
                    Tensor x = on.floats(N, C);
                    Tensor gamma = on.floats(C);
                    Tensor y = on.floats(N, C);
                    Tensor root = on.floats(N);
                    Tensor dy = on.floats(N, C);
                    Tensor dx = on.floats(N, C);
                    Tensor dGamma = on.floats(C);
                    Tensor cosines = on.floats(T, d / 2);
                    Tensor sines = on.floats(T, d / 2);
                    Tensor keys = on.floats(N, k * d);
                    Tensor values = on.floats(N, k * d);
                    Tensor state = on.zeros(engine.attentionStateShape(B, T, H));
                    Tensor dKeys = on.floats(N, k * d);
                    Tensor dValues = on.floats(N, k * d);
                    Tensor query = on.floats(1, C);
                    Tensor attended = on.floats(1, C);
                    Tensor gate = on.floats(N, inner);
                    Tensor up = on.floats(N, inner);
                    Tensor product = on.floats(N, inner);
                    Tensor dGate = on.floats(N, inner);
                    Tensor dUp = on.floats(N, inner);
                    calls.put("rmsNorm", () -> engine.rmsNorm(null, x, gamma, EPSILON, y, root));
                    calls.put("rmsNormBackwardInput",
                            () -> engine.rmsNormBackwardInput(dy, x, gamma, root, dx, true));
                    calls.put("rmsNormBackwardWeight", () -> engine.rmsNormBackwardWeight(dy, x, root, dGamma));
                    calls.put("rmsNormBackward",
                            () -> engine.rmsNormBackward(dy, x, gamma, root, dx, true, dGamma));
                    calls.put("rotary", () -> engine.rotary(dx, null, T, cosines, sines, C / H, false, dx));
                    calls.put("groupedAttention", () -> engine.groupedAttention(x, keys, values, null, T, H, k,
                            Dropout.NONE, state, y));
                    calls.put("groupedAttentionBackward", () -> engine.groupedAttentionBackward(dy, x, keys, values,
                            null, y, state, T, H, k, Dropout.NONE, dx, dKeys, dValues));
                    calls.put("cachedAttention",
                            () -> engine.cachedAttention(query, keys, values, N, H, k, attended));
                    calls.put("swiGlu", () -> engine.swiGlu(gate, up, product));
                    calls.put("swiGluBackward", () -> engine.swiGluBackward(gate, up, product, dGate, dUp));
                    calls.get("rmsNorm").run(); // the backwards read the results
                    calls.get("groupedAttention").run();
                });
    }

    /** Kernels that read each element once, and sums. */
    private static KernelFamily elementwise() {
        String name = "ElementwiseKernels";
        Dropout tenth = new Dropout(0.1, 1, 0, 0, 0, C, 0, 0);
        return new KernelFamily(name, List.of(KernelWork.memory(name, "add", NARROW, 3 * ELEMENTS),
                KernelWork.memory(name, "copy", NARROW, 2 * ELEMENTS),
                KernelWork.memory(name, "dropout", NARROW, 2 * ELEMENTS),
                KernelWork.memory(name, "fill", NARROW, ELEMENTS),
                KernelWork.memory(name, "scale", NARROW, 2 * ELEMENTS),
                KernelWork.memory(name, "sum", NARROW, ELEMENTS),
                KernelWork.memory(name, "squaredSum", WIDE, 4 * ELEMENTS),
                KernelWork.memory(name, "digest", WIDE, 4 * ELEMENTS),
                KernelWork.memory(name, "biasBackward", WIDE, 4 * ELEMENTS),
                KernelWork.memory(name, "gelu", WIDE, 2 * 4 * ELEMENTS),
                KernelWork.memory(name, "geluBackward", WIDE, 3 * 4 * ELEMENTS)), (on, calls) -> {
                    Engine engine = on.engine();
                    Tensor left = on.floats(N, C);
                    Tensor right = on.floats(N, C);
                    Tensor result = on.floats(N, C);
                    Tensor preActivation = on.floats(N, 4 * C);
                    Tensor dy = on.floats(N, 4 * C);
                    Tensor dx = on.floats(N, 4 * C);
                    Tensor dBias = on.floats(4 * C);
                    Tensor sums = engine.allocate(DataType.FLOAT64, Shape.of(2));
                    Tensor digests = engine.allocate(DataType.INT32, Shape.of(1, 2));
                    calls.put("add", () -> engine.add(left, right, result));
                    calls.put("copy", () -> engine.copy(left, result));
                    calls.put("dropout", () -> engine.dropout(left, tenth, result));
                    calls.put("fill", () -> engine.fill(result, 0));
                    calls.put("scale", () -> engine.scale(left, 1)); // the numbers do not change
                    calls.put("sum", () -> engine.sum(left, sums, 0));
                    calls.put("squaredSum", () -> engine.squaredSum(dy, sums, 1));
                    calls.put("digest", () -> engine.digest(dy, digests, 0));
                    calls.put("biasBackward", () -> engine.biasBackward(dy, dBias));
                    calls.put("gelu", () -> engine.gelu(preActivation, dx));
                    calls.put("geluBackward", () -> engine.geluBackward(preActivation, dy, dx));
                });
    }

    /** Casts of weights, alone and after an update. */
    private static KernelFamily casts() {
        String sizes = sizes("[%d x %d] to bfloat16", N, C);
        double cast = 1.5 * ELEMENTS; // four bytes read and two written for each element
        double update = 8 * ELEMENTS;
        return new KernelFamily(CASTS, List.of(KernelWork.memory(CASTS, "cast", sizes, cast),
                KernelWork.memory(CASTS, "adamWThenCast", sizes + ", two kernels", update + cast),
                KernelWork.memory(CASTS, "adamWWithOperands", sizes + ", in one", update + cast)), (on, calls) -> {
                    Engine engine = on.engine();
                    Tensor weights = on.floats(N, C);
                    Tensor gradients = on.floats(N, C);
                    Tensor first = on.floats(N, C);
                    Tensor second = on.floats(N, C);
                    engine.fill(second, 1);
                    Tensor rounded = engine.allocate(engine.computeType(), weights.shape());
                    calls.put("cast", () -> engine.cast(weights, rounded));
                    calls.put("adamWThenCast", () -> {
                        engine.adamW(weights, gradients, first, second, UPDATE);
                        engine.cast(weights, rounded);
                    });
                    calls.put("adamWWithOperands",
                            () -> engine.adamW(weights, gradients, first, second, UPDATE, rounded));
                });
    }

    /** Both ends of the model. */
    private static KernelFamily vocabulary() {
        String name = "VocabularyKernels";
        String rows = sizes("[%d x %d], V %d", N, C, V);
        String logitSizes = sizes("[%d x %d]", N, V);
        return new KernelFamily(name, List.of(KernelWork.memory(name, "embedding", rows, 2 * ELEMENTS),
                KernelWork.memory(name, "embeddingBackward", rows, 3 * ELEMENTS),
                KernelWork.memory(name, "crossEntropy", logitSizes, (double) N * V),
                KernelWork.memory(name, "crossEntropyBackward", logitSizes, 2.0 * N * V),
                KernelWork.memory(name, "crossEntropyThenBackward", logitSizes + ", two kernels", 2.0 * N * V),
                KernelWork.memory(name, "crossEntropyBoth", logitSizes + ", in one", 2.0 * N * V),
                KernelWork.memory(name, "shardSum", sizes("[%d]", N), 3.0 * N),
                KernelWork.memory(name, "joinShards", sizes("[%d]", N), 7.0 * N)), (on, calls) -> {
                    Engine engine = on.engine();
                    Tensor tokens = on.ids(V, N);
                    Tensor tokenTable = on.floats(V, C);
                    Tensor positionTable = on.floats(T, C);
                    Tensor y = on.floats(N, C);
                    Tensor dTokenTable = on.floats(V, C);
                    Tensor dPositionTable = on.floats(T, C);
                    Tensor logits = on.floats(N, V);
                    Tensor loss = on.floats(N);
                    Tensor logSumExp = on.floats(N);
                    Tensor dLogits = on.floats(N, V);
                    Tensor shardSums = on.floats(N);
                    calls.put("embedding", () -> engine.embedding(tokens, tokenTable, positionTable, T, y));
                    calls.put("embeddingBackward",
                            () -> engine.embeddingBackward(tokens, y, T, dTokenTable, dPositionTable));
                    calls.put("crossEntropy", () -> engine.crossEntropy(logits, tokens, loss, logSumExp));
                    calls.put("crossEntropyBackward",
                            () -> engine.crossEntropyBackward(logits, tokens, logSumExp, 1.0 / N, dLogits));
                    // In the place of the logits: logits that are gradients stay finite.
                    calls.put("crossEntropyThenBackward", () -> {
                        engine.crossEntropy(dLogits, tokens, loss, logSumExp);
                        engine.crossEntropyBackward(dLogits, tokens, logSumExp, 1.0 / N, dLogits);
                    });
                    calls.put("crossEntropyBoth",
                            () -> engine.crossEntropyBoth(dLogits, tokens, 1.0 / N, loss, logSumExp));
                    calls.put("shardSum", () -> engine.shardSum(logSumExp, logSumExp, shardSums));
                    calls.put("joinShards", () -> engine.joinShards(tokens, shardSums, shardSums, loss, logSumExp));
                    calls.get("crossEntropy").run(); // the backward reads its results, and so does the joining of shards
                    calls.get("shardSum").run();
                });
    }

    /** The update of the weights of one wide layer. */
    private static KernelFamily optimizers() {
        String name = "OptimizerKernels";
        String sizes = sizes("[%d x %d]", C, 4 * C);
        double elements = 4.0 * C * C;
        Momentum momentum = new Momentum(0, BETA, true, 0, 1);
        return new KernelFamily(name, List.of(KernelWork.memory(name, "adamW", sizes, 8 * elements),
                KernelWork.memory(name, "sgd", sizes, 4 * elements),
                KernelWork.memory(name, "sgdMomentum", sizes, 6 * elements)), (on, calls) -> {
                    Engine engine = on.engine();
                    Tensor weights = on.floats(C, 4 * C);
                    Tensor gradients = on.floats(C, 4 * C);
                    Tensor first = on.floats(C, 4 * C);
                    Tensor second = on.floats(C, 4 * C);
                    engine.fill(second, 1);
                    calls.put("adamW", () -> engine.adamW(weights, gradients, first, second, UPDATE));
                    calls.put("sgd", () -> engine.sgd(weights, gradients, 0, 0.1, 1));
                    calls.put("sgdMomentum", () -> engine.sgdMomentum(weights, gradients, first, momentum));
                });
    }

    /** The limits of one core: a large product, and copies of two outputs of layers, of which the smaller fits a cache. */
    private static KernelFamily limits() {
        return new KernelFamily(LIMITS, List.of(), (on, calls) -> {
            Engine engine = on.engine();
            Tensor left = on.floats(SIDE, SIDE);
            Tensor right = on.floats(SIDE, SIDE);
            Tensor product = on.zeros(Shape.of(SIDE, SIDE));
            Tensor narrow = on.floats(N, C);
            Tensor narrowCopy = on.floats(N, C);
            Tensor wide = on.floats(N, 4 * C);
            Tensor wideCopy = on.floats(N, 4 * C);
            calls.put("product", () -> engine.matmul(left, false, right, false, product, false));
            calls.put("copyNarrow", () -> engine.copy(narrow, narrowCopy));
            calls.put("copyWide", () -> engine.copy(wide, wideCopy));
        });
    }
}
