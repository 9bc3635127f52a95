package dev.troupe.generate;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.IntPredicate;

/**
 * Writes on from a prompt, token by token, with a whole model on one engine. Every token costs a forward over a full
 * sequence: it is for a few lines at the end of a run, not for serving.
 *
 * <p>Thread rule: as for the engine, which stays the caller's.
 */
public final class Generator implements AutoCloseable {
    private final Engine engine;
    private final int hidden;
    private final int longest;
    private final int vocabularySize;
    private final ModelLayers layers;
    private final Arena hostMemory = Arena.ofShared();
    private final MemorySegment hostLogits;
    private final Sampler sampler;

    /**
     * Reads a whole model.
     *
     * @param most
     *            tokens of prompt and text that the model reads at a time, where it has positions for so many; a forward is
     *            over all of them, and a published model may have positions for 131,072
     * @throws dev.troupe.weights.WeightException
     *             where the source lacks a tensor
     */
    public Generator(Engine engine, ModelSpec model, WeightSource source, int most) {
        this.engine = engine;
        this.hidden = model.size(Axis.HIDDEN);
        this.longest = Math.min(model.size(Axis.POSITION), most);
        this.vocabularySize = model.size(Axis.VOCABULARY);
        this.layers = new ModelLayers(engine, model, source, longest);
        long elementBytes = engine.parameterType().elementBytes();
        this.hostLogits = hostMemory.allocate(vocabularySize * elementBytes, elementBytes);
        this.sampler = new Sampler(vocabularySize);
    }

    /**
     * Samples tokens after a prompt. The same arguments on the same weights and engine give the same tokens.
     *
     * @param prompt
     *            at least one token id; where it is longer than what the model reads at a time, its end counts
     * @param count
     *            how many tokens to add
     * @param sampling
     *            how a token is drawn
     * @return the new tokens alone
     */
    public int[] generate(int[] prompt, int count, Sampling sampling) {
        return generate(prompt, count, sampling, _ -> false);
    }

    /**
     * As {@link #generate(int[], int, Sampling)}, until a token that ends the text.
     *
     * @param isEnd
     *            whether a new token is the last
     */
    public int[] generate(int[] prompt, int count, Sampling sampling, IntPredicate isEnd) {
        if (prompt.length == 0) {
            throw new IllegalArgumentException("a prompt needs at least 1 token, but found none");
        }
        SplittableRandom random = new SplittableRandom(sampling.seed());
        int[] text = Arrays.copyOf(prompt, prompt.length + count);
        for (int length = prompt.length; length < text.length; length++) {
            readLogits(text, length);
            text[length] = sampler.draw(hostLogits, engine.parameterType(), sampling, random);
            if (isEnd.test(text[length])) {
                return Arrays.copyOfRange(text, prompt.length, length + 1);
            }
        }
        return Arrays.copyOfRange(text, prompt.length, text.length);
    }

    /** Leaves the logits of what follows the first {@code length} tokens in host memory. */
    private void readLogits(int[] text, int length) {
        int window = Math.min(length, longest);
        // Attention is causal, so what stands behind the last token does not matter; token 0 is always valid.
        int[] tokens = Arrays.copyOf(Arrays.copyOfRange(text, length - window, length), longest);
        Tensor activation = layers.beforeHead(tokens, null);
        Tensor row = engine.range(activation, (window - 1) * (long) hidden, Shape.of(1, hidden));
        Tensor logits = layers.pool().takeFloats(Shape.of(1, vocabularySize));
        layers.head().logitsOfRow(row, logits);
        engine.copyToHost(logits, 0, hostLogits);
        layers.pool().give(activation);
        layers.pool().give(logits);
    }

    @Override
    public void close() {
        layers.close();
        if (hostMemory.scope().isAlive()) {
            hostMemory.close();
        }
    }
}
