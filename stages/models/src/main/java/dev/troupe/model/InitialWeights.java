package dev.troupe.model;

import static dev.troupe.weights.Wording.quoted;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.model.spec.Init;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.tokenizer.file.Sha256;
import dev.troupe.weights.Progress;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.function.ToDoubleFunction;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Initial weights by the {@link Init} of each parameter.
 *
 * <p>A value depends only on the seed, the tensor's name and its index, so that every partition begins with the same model;
 * float32 values are rounded float64 values. Any thread may read.
 */
public final class InitialWeights implements WeightSource {
    // A separate generator for each block, so that a slice of a tensor can be made without the slices before it.
    private static final int BLOCK_ELEMENTS = 4096;
    private static final RandomGeneratorFactory<RandomGenerator> GENERATORS = RandomGeneratorFactory
            .of("L64X128MixRandom");
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);

    private final ModelSpec model;
    private final long seed;

    /** Creates the initial weights of one model; its tensors are listed when one is read. */
    public InitialWeights(ModelSpec model, long seed) {
        this.model = model;
        this.seed = seed;
    }

    /** Returns a text that distinguishes these weights from others of the same model. */
    public String identity() {
        return "drawn from seed " + seed;
    }

    @Override
    public void read(String name, Shape shape, DataType parameterType, MemorySegment target) {
        ParameterSpec parameter = model.parameters().get(name);
        if (parameter == null || !shape.equals(parameter.shape().sizes())) {
            throw new WeightException("initial weights: tensor " + quoted(name) + " of shape " + shape
                    + " was asked for, but the model has "
                    + (parameter == null ? "no such tensor" : "it as " + parameter.shape().sizes()));
        }
        if (target.byteSize() != shape.elementCount() * parameterType.elementBytes()) {
            throw new IllegalArgumentException("tensor " + name + " as " + parameterType + " needs "
                    + shape.elementCount() * parameterType.elementBytes() + " bytes, but the target has "
                    + target.byteSize());
        }
        switch (parameter.init()) {
            case Init.Constant(double value) -> {
                for (long index = 0; index < shape.elementCount(); index++) {
                    put(target, parameterType, index, value);
                }
            }
            case Init.Normal(double deviation) ->
                fill(name, generator -> deviation * generator.nextGaussian(), parameterType, target,
                        shape.elementCount());
            case Init.Uniform(double bound) ->
                fill(name, generator -> bound * (2 * generator.nextDouble() - 1), parameterType, target,
                        shape.elementCount());
        }
    }

    private void fill(String name, ToDoubleFunction<RandomGenerator> drawn, DataType type, MemorySegment target,
            long count) {
        MessageDigest digest = Sha256.digest();
        byte[] nameBytes = name.getBytes(StandardCharsets.UTF_8);
        for (long from = 0; from < count; from += BLOCK_ELEMENTS) {
            digest.update(ByteBuffer.allocate(2 * Long.BYTES).putLong(seed).putLong(from / BLOCK_ELEMENTS).flip());
            RandomGenerator generator = GENERATORS.create(digest.digest(nameBytes));
            long end = Math.min(count, from + BLOCK_ELEMENTS);
            for (long index = from; index < end; index++) {
                put(target, type, index, drawn.applyAsDouble(generator));
            }
            Progress.moved();
        }
    }

    private static void put(MemorySegment target, DataType type, long index, double value) {
        switch (type) {
            case FLOAT32 -> target.setAtIndex(FLOAT, index, (float) value);
            case FLOAT64 -> target.setAtIndex(DOUBLE, index, value);
            case INT32, BFLOAT16 -> throw new IllegalArgumentException(
                    "weights are FLOAT32 or FLOAT64, not " + type);
        }
    }
}
