package dev.troupe.engine.cpu;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.Bfloat16;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.OptimizerKernels.Momentum;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

/**
 * A call of every kernel, on tensors of one engine that follow from a seed. Letters as in the contract; rows N = B T, and
 * the inner size of the products is M.
 */
final class EveryKernel implements AutoCloseable {
    record Sizes(int b, int t, int heads, int c, int m, int v) {
        /**
         * Rows have eight numbers or more. Two or four numbers are now and then so close that their deviation is
         * rounding, and no two engines agree on it; the conformance tests cover norms of such rows, with a
         * tolerance for each row.
         */
        static Sizes random(Random random) {
            int heads = 1 + random.nextInt(4);
            int leastPairs = Math.ceilDiv(4, heads);
            return new Sizes(1 + random.nextInt(3), 1 + random.nextInt(150), heads,
                    heads * 2 * (leastPairs + random.nextInt(21 - leastPairs)),
                    1 + random.nextInt(200), 1 + random.nextInt(120));
        }

        int n() {
            return b * t;
        }
    }

    private Engine engine;
    private final Sizes sizes;
    private final Random random;
    private final Map<String, Tensor> tensors = new LinkedHashMap<>();
    private final Tensor sums;
    private final Tensor digests;
    private final MemorySegment hostSums = MemorySegment.ofArray(new double[2]);

    EveryKernel(Engine engine, Sizes sizes, long seed) {
        this.engine = engine;
        this.sizes = sizes;
        this.random = new Random(seed);
        this.sums = engine.allocate(DataType.FLOAT64, Shape.of(2));
        this.digests = engine.allocate(DataType.INT32, Shape.of(1, 2));
        int n = sizes.n();
        int c = sizes.c();
        int m = sizes.m();
        int v = sizes.v();
        ids("tokens", n, v);
        floats("tokenTable", v, c);
        floats("positionTable", sizes.t() + 1, c);
        floats("gamma", c);
        floats("beta", c);
        products("inWeight", c, m);
        floats("inBias", m);
        products("outWeight", m, c);
        floats("outBias", c);
        products("qkv", n, 3 * c);
        products("dy", n, c);
        for (String name : new String[]{"x", "normed", "projected", "attended", "residual", "normedSum", "dNormed",
                "dProjected", "dFused"}) {
            products(name, n, c);
        }
        for (String name : new String[]{"mean", "deviation", "meanOfSum", "deviationOfSum"}) {
            floats(name, n);
        }
        products("pre", n, m);
        products("inner", n, m);
        products("innerAgain", n, m);
        products("dInner", n, m);
        put("state", engine.allocate(engine.parameterType(), engine.attentionStateShape(sizes.b(), sizes.t(),
                sizes.heads())));
        products("dQkv", n, 3 * c);
        products("logits", n, v);
        products("dLogits", n, v);
        floats("rowLoss", n);
        floats("logSums", n);
        floats("shardSums", n);
        products("logitsToGradient", n, v);
        floats("bothLosses", n);
        floats("bothLogSums", n);
        floats("wholeLogSums", n);
        floats("dInWeight", c, m);
        floats("dInBias", m);
        floats("dGamma", c);
        floats("dBeta", c);
        floats("dTokenTable", v, c);
        floats("dPositionTable", sizes.t() + 1, c);
        floats("first", c, m);
        floats("second", c, m);
        engine.fill(at("second"), 0.25);
        products("dropped", n, c);
        products("attendedInPart", n, c);
        products("dQkvInPart", n, 3 * c);
        products("copied", n, c);
        int d = c / sizes.heads();
        for (String name : new String[]{"keys", "values", "keyGradient", "dKeys", "dValues", "normedKeys", "dRoot",
                "dRootFused", "turnedKeys"}) {
            products(name, n, d);
        }
        for (String name : new String[]{"attendedTogether", "dQueries", "gated", "dGate", "dUp"}) {
            products(name, n, c);
        }
        products("lastQuery", 1, c);
        products("attendedLast", 1, c);
        floats("headGamma", d);
        floats("dHeadGamma", d);
        floats("root", n);
        floats("cosines", sizes.t(), d / 2);
        floats("sines", sizes.t(), d / 2);
        // Products read the table, and the optimizer changes the weights, in the other type.
        floats("smallTable", v, c);
        products("tableOperand", v, c);
        floats("inMaster", c, m);
    }

    /** Calls every kernel; returns a number that depends on the sums. */
    double run() {
        int t = sizes.t();
        engine.copy(at("tokenTable"), at("smallTable"));
        engine.cast(at("inWeight"), at("inMaster"));
        engine.embedding(at("tokens"), at("tokenTable"), at("positionTable"), t, at("x"));
        engine.layerNorm(null, at("x"), at("gamma"), at("beta"), 1e-5, at("normed"), at("mean"), at("deviation"));
        engine.linearGelu(at("normed"), at("inWeight"), at("inBias"), at("pre"), at("inner"));
        engine.gelu(at("pre"), at("innerAgain"));
        engine.linear(at("inner"), at("outWeight"), false, at("outBias"), at("projected"));
        engine.causalAttention(at("qkv"), t, sizes.heads(), at("state"), at("attended"));
        engine.add(at("attended"), at("projected"), at("residual"));
        engine.layerNorm(at("attended"), at("projected"), at("gamma"), at("beta"), 1e-5, at("normedSum"),
                at("meanOfSum"), at("deviationOfSum"));
        // Large logits would turn the rounding of a product into differences of probabilities.
        engine.scale(at("smallTable"), 1.0 / 512);
        engine.cast(at("smallTable"), at("tableOperand"));
        engine.matmul(at("residual"), false, at("tableOperand"), true, at("logits"), false);
        engine.crossEntropy(at("logits"), at("tokens"), at("rowLoss"), at("logSums"));
        engine.crossEntropyBackward(at("logits"), at("tokens"), at("logSums"), 0.5, at("dLogits"));
        engine.copy(at("dLogits"), at("logitsToGradient"));
        engine.crossEntropyBoth(at("logitsToGradient"), at("tokens"), 0.5, at("bothLosses"), at("bothLogSums"));
        engine.shardSum(at("logSums"), at("rowLoss"), at("shardSums"));
        engine.copy(at("logSums"), at("wholeLogSums"));
        engine.joinShards(at("tokens"), at("logSums"), at("shardSums"), at("rowLoss"), at("wholeLogSums"));
        engine.causalAttentionBackward(at("dy"), at("qkv"), at("attended"), at("state"), t, sizes.heads(), at("dQkv"));
        engine.matmul(at("dy"), false, at("outWeight"), true, at("dInner"), false);
        engine.geluBackward(at("pre"), at("dInner"), at("dInner"));
        engine.biasBackward(at("dInner"), at("dInBias"));
        engine.matmul(at("normed"), true, at("dInner"), false, at("dInWeight"), true);
        engine.matmul(at("dInner"), false, at("inWeight"), true, at("dNormed"), false);
        engine.layerNormBackwardWeight(at("dNormed"), at("x"), at("mean"), at("deviation"), at("dGamma"),
                at("dBeta"));
        engine.layerNormBackwardInput(at("dNormed"), at("x"), at("gamma"), at("mean"), at("deviation"),
                at("dProjected"), true);
        engine.layerNormBackward(at("dNormed"), at("x"), at("gamma"), at("mean"), at("deviation"), at("dFused"), true,
                at("dGamma"), at("dBeta"));
        engine.embeddingBackward(at("tokens"), at("dy"), t, at("dTokenTable"), at("dPositionTable"));
        engine.adamW(at("inMaster"), at("dInWeight"), at("first"), at("second"),
                new AdamW(1e-3, 0.9, 0.95, 1e-8, 0.1, 3, 0.5));
        engine.cast(at("inMaster"), at("inWeight"));
        engine.sgd(at("beta"), at("outBias"), 1e-2, 0.1, 0.5);
        engine.sgdMomentum(at("inMaster"), at("dInWeight"), at("first"), new Momentum(1e-3, 0.9, true, 0.1, 0.5),
                at("inWeight"));
        engine.copy(at("dy"), at("copied"));
        engine.dropout(at("dy"), dropout(sizes.c()), at("dropped"));
        engine.causalAttention(at("qkv"), t, sizes.heads(), dropout(sizes.heads()), at("state"), at("attendedInPart"));
        engine.causalAttentionBackward(at("dropped"), at("qkv"), at("attendedInPart"), at("state"), t, sizes.heads(),
                dropout(sizes.heads()), at("dQkvInPart"));
        engine.rmsNorm(null, at("keys"), at("headGamma"), 1e-5, at("normedKeys"), at("root"));
        engine.rmsNormBackwardInput(at("keyGradient"), at("keys"), at("headGamma"), at("root"), at("dRoot"), false);
        engine.rmsNormBackwardWeight(at("keyGradient"), at("keys"), at("root"), at("dHeadGamma"));
        engine.rmsNormBackward(at("keyGradient"), at("keys"), at("headGamma"), at("root"), at("dRootFused"), false,
                at("dHeadGamma"));
        engine.rotary(at("keys"), null, t, at("cosines"), at("sines"), sizes.c() / sizes.heads(), false,
                at("turnedKeys"));
        engine.groupedAttention(at("dy"), at("keys"), at("values"), null, t, sizes.heads(), 1, Dropout.NONE,
                at("state"), at("attendedTogether"));
        engine.groupedAttentionBackward(at("copied"), at("dy"), at("keys"), at("values"), null,
                at("attendedTogether"), at("state"), t, sizes.heads(), 1, Dropout.NONE, at("dQueries"), at("dKeys"),
                at("dValues"));
        engine.cachedAttention(at("lastQuery"), at("keys"), at("values"), t, sizes.heads(), 1, at("attendedLast"));
        engine.swiGlu(at("dy"), at("copied"), at("gated"));
        engine.swiGluBackward(at("dy"), at("copied"), at("copied"), at("dGate"), at("dUp"));
        engine.sum(at("rowLoss"), sums, 0);
        engine.squaredSum(at("dInWeight"), sums, 1);
        engine.digest(at("dInWeight"), digests, 0);
        engine.copyToHost(sums, 0, hostSums);
        return hostSums.getAtIndex(ValueLayout.JAVA_DOUBLE, 0) + hostSums.getAtIndex(ValueLayout.JAVA_DOUBLE, 1);
    }

    /** Calls kernels by way of another engine from now on, which forwards them to the owner of the tensors. */
    void callThrough(Engine other) {
        engine = other;
    }

    private static Dropout dropout(int columns) {
        return new Dropout(0.2, 5, 7, 3, 9, columns, 0, 0);
    }

    /** Makes gradients small again, so that numbers stay finite over many runs. */
    void settle() {
        engine.copy(at("dy"), at("dProjected"));
        engine.copy(at("dy"), at("dFused"));
        for (String name : new String[]{"dInWeight", "dInBias", "dGamma", "dBeta", "dTokenTable",
                "dPositionTable"}) {
            engine.fill(at(name), 0);
        }
    }

    /** Every float tensor by its name, except the state, which is private to the engine. */
    Map<String, float[]> floats() {
        Map<String, float[]> floats = new LinkedHashMap<>();
        tensors.forEach((name, tensor) -> {
            if (!name.equals("tokens") && !name.equals("state")) {
                floats.put(name, read(tensor));
            }
        });
        return floats;
    }

    private float[] read(Tensor tensor) {
        float[] elements = new float[(int) tensor.shape().elementCount()];
        if (tensor.dataType() == DataType.BFLOAT16) {
            short[] numbers = new short[elements.length];
            engine.copyToHost(tensor, 0, MemorySegment.ofArray(numbers));
            for (int i = 0; i < elements.length; i++) {
                elements[i] = Bfloat16.toFloat(numbers[i]);
            }
        } else {
            engine.copyToHost(tensor, 0, MemorySegment.ofArray(elements));
        }
        return elements;
    }

    private Tensor at(String name) {
        return tensors.get(name);
    }

    private void put(String name, Tensor tensor) {
        tensors.put(name, tensor);
    }

    private void floats(String name, int... shape) {
        Tensor tensor = engine.allocate(engine.parameterType(), Shape.of(shape));
        float[] elements = new float[(int) tensor.shape().elementCount()];
        for (int i = 0; i < elements.length; i++) {
            elements[i] = (float) random.nextGaussian() / 2;
        }
        engine.copyFromHost(MemorySegment.ofArray(elements), tensor, 0);
        put(name, tensor);
    }

    private void products(String name, int... shape) {
        floats(name, shape);
        Tensor floats = at(name);
        Tensor tensor = engine.allocate(engine.computeType(), Shape.of(shape));
        engine.cast(floats, tensor);
        floats.close();
        put(name, tensor);
    }

    private void ids(String name, int count, int limit) {
        Tensor tensor = engine.allocate(DataType.INT32, Shape.of(count));
        MemorySegment ids = MemorySegment.ofArray(new int[count]);
        for (int i = 0; i < count; i++) {
            ids.setAtIndex(ValueLayout.JAVA_INT, i, random.nextInt(limit));
        }
        engine.copyFromHost(ids, tensor, 0);
        put(name, tensor);
    }

    @Override
    public void close() {
        sums.close();
        digests.close();
        tensors.values().forEach(Tensor::close);
    }
}
