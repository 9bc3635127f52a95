package dev.troupe.generate;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.MicrobatchContext;
import dev.troupe.layer.cache.KeyValueCache;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.IntPredicate;

/**
 * A generator that continues a prompt, token by token, with a whole model on one engine. One forward reads the prompt and
 * caches the keys and values of its places; each further token costs a forward of one row. If the text is longer than the
 * context, its end is read as a prompt again for each token.
 *
 * <p>Thread rule: as for the engine, which stays the caller's.
 */
public final class Generator implements AutoCloseable {
    private final Engine engine;
    private final int hidden;
    private final int longest;
    private final int vocabularySize;
    private final ModelLayers layers;
    private final SequenceForward row;
    private final KeyValueCache cache;
    /** The forward of the last prompt; null before the first. */
    private SequenceForward window;
    private final Arena hostMemory = Arena.ofShared();
    private final MemorySegment hostLogits;
    private final Sampler sampler;

    /**
     * Reads a whole model.
     *
     * @param most the most tokens of the context, if the model has positions for them. The cache is allocated for all of
     *     them, and a published model may have 131,072 positions
     * @throws dev.troupe.weights.WeightException if the source lacks a tensor
     */
    public Generator(Engine engine, ModelSpec model, WeightSource source, int most) {
        this.engine = engine;
        this.hidden = model.size(Axis.HIDDEN);
        this.longest = Math.min(model.size(Axis.POSITION), most);
        this.vocabularySize = model.size(Axis.VOCABULARY);
        this.layers = new ModelLayers(engine, model, source, longest);
        this.row = layers.ofLength(1);
        this.cache = new KeyValueCache(engine, longest);
        long elementBytes = engine.parameterType().elementBytes();
        this.hostLogits = hostMemory.allocate(vocabularySize * elementBytes, elementBytes);
        this.sampler = new Sampler(vocabularySize);
    }

    /**
     * Samples tokens after a prompt. The same arguments on the same weights and engine give the same tokens.
     *
     * @param prompt at least one token id; if the prompt is longer than the context, only its end counts
     * @param sampling the rule by which a token is drawn
     * @return the new tokens alone
     */
    public int[] generate(int[] prompt, int count, Sampling sampling) {
        return generate(prompt, count, sampling, _ -> false);
    }

    /**
     * As {@link #generate(int[], int, Sampling)}, until a token that ends the text.
     *
     * @param isEnd whether a new token is the last
     */
    public int[] generate(int[] prompt, int count, Sampling sampling, IntPredicate isEnd) {
        if (prompt.length == 0) {
            throw new IllegalArgumentException("a prompt needs at least 1 token, but found none");
        }
        SplittableRandom random = new SplittableRandom(sampling.seed());
        int[] text = Arrays.copyOf(prompt, prompt.length + count);
        for (int length = prompt.length; length < text.length; length++) {
            if (length > prompt.length && length <= longest) {
                readLogits(row, new int[]{text[length - 1]});
            } else {
                readPrompt(Arrays.copyOfRange(text, Math.max(0, length - longest), length));
            }
            text[length] = sampler.draw(hostLogits, engine.parameterType(), sampling, random);
            if (isEnd.test(text[length])) {
                return Arrays.copyOfRange(text, prompt.length, length + 1);
            }
        }
        return Arrays.copyOfRange(text, prompt.length, text.length);
    }

    /** Reads tokens as the beginning of a text; activations are reused for prompts of this length. */
    private void readPrompt(int[] tokens) {
        if (window == null || window.length() != tokens.length) {
            closeWindow();
            window = layers.ofLength(tokens.length);
        }
        cache.clear();
        readLogits(window, tokens);
    }

    /** Copies the logits after further tokens of the text to host memory. */
    private void readLogits(SequenceForward forward, int[] tokens) {
        Tensor activation = forward.beforeHead(tokens, MicrobatchContext.continuing(tokens.length, cache));
        cache.advance(tokens.length);
        Tensor last = engine.range(activation, (tokens.length - 1) * (long) hidden, Shape.of(1, hidden));
        Tensor logits = forward.pool().takeFloats(Shape.of(1, vocabularySize));
        forward.head().logitsOfRow(last, logits);
        engine.copyToHost(logits, 0, hostLogits);
        forward.pool().give(activation);
        forward.pool().give(logits);
    }

    private void closeWindow() {
        if (window != null) {
            window.close();
            window = null;
        }
    }

    @Override
    public void close() {
        closeWindow();
        row.close();
        cache.close();
        layers.close();
        if (hostMemory.scope().isAlive()) {
            hostMemory.close();
        }
    }
}
