package dev.troupe.generate;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.fallback.HostNumbers;
import dev.troupe.layer.MicrobatchContext;
import dev.troupe.layer.cache.KeyValueCache;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.function.IntPredicate;

/**
 * A generator that continues prompts, token by token, with a whole model on one engine. One forward reads the prompt and
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
    /** The caches that no text has. */
    private final Deque<KeyValueCache> caches;
    /** The forward of the last prompt; null before the first. */
    private SequenceForward window;
    private final Arena hostMemory = Arena.ofShared();
    private final MemorySegment hostLogits;

    /**
     * Reads a whole model.
     *
     * @param most the most tokens of the context, if the model has positions for them. A cache is allocated for all of
     *     them, and a published model may have 131,072 positions
     * @throws dev.troupe.weights.WeightException if the source lacks a tensor
     */
    public Generator(Engine engine, ModelSpec model, WeightSource source, int most) {
        this(engine, model, Math.min(model.size(Axis.POSITION), most),
                new ModelLayers(engine, model, source, Math.min(model.size(Axis.POSITION), most)), new ArrayDeque<>());
    }

    private Generator(Engine engine, ModelSpec model, int longest, ModelLayers layers, Deque<KeyValueCache> caches) {
        this.engine = engine;
        this.hidden = model.size(Axis.HIDDEN);
        this.longest = longest;
        this.vocabularySize = model.size(Axis.VOCABULARY);
        this.layers = layers;
        this.caches = caches;
        this.row = layers.ofLength(1);
        long elementBytes = engine.parameterType().elementBytes();
        this.hostLogits = hostMemory.allocate(vocabularySize * elementBytes, elementBytes);
    }

    /**
     * Reads the weights again, such as a trainer's next version ({@link StageWeights}). Texts that were begun before must
     * have ended: their caches are of the version before.
     *
     * @throws dev.troupe.weights.WeightException if the source lacks a tensor
     */
    public void load(WeightSource source) {
        layers.load(source);
    }

    /**
     * Returns a generator of these weights with adapters. The weights are in memory once, and both use the same caches.
     *
     * @param adapted this model with frozen weights, and with adapters
     * @param adapters the weights of the adapters alone
     * @return a generator that the caller closes before this one
     * @throws dev.troupe.weights.WeightException if the source lacks a tensor
     */
    public Generator withAdapters(ModelSpec adapted, WeightSource adapters) {
        return new Generator(engine, adapted, longest, layers.withAdapters(adapted, adapters), caches);
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
        try (Continuation text = begin(prompt, sampling)) {
            boolean hasEnded = false;
            for (int added = 0; added < count && !hasEnded; added++) {
                hasEnded = isEnd.test(text.next());
            }
            return text.written();
        }
    }

    /** As {@link #generate(int[], int, Sampling)}, token by token. */
    public Continuation begin(int[] prompt, Sampling sampling) {
        if (prompt.length == 0) {
            throw new IllegalArgumentException("a prompt needs at least 1 token, but found none");
        }
        KeyValueCache cache = caches.isEmpty() ? new KeyValueCache(engine, longest) : caches.pop();
        return new Continuation(this, cache, prompt, sampling);
    }

    /**
     * Computes how likely the tokens of a text are, each after all before it.
     *
     * @param text from two tokens to the most of the context
     * @return natural logarithms over the whole vocabulary, for each token but the first
     */
    public double[] logProbabilities(int[] text) {
        if (text.length < 2 || text.length > longest) {
            throw new IllegalArgumentException("log-probabilities need 2 to " + longest + " tokens, but found "
                    + text.length);
        }
        double[] logits = new double[vocabularySize];
        double[] probabilities = new double[text.length - 1];
        int[] read = Arrays.copyOf(text, probabilities.length);
        SequenceForward forward = windowOf(read.length);
        Tensor activation = forward.beforeHead(read, MicrobatchContext.plain(read.length));
        for (int place = 0; place < probabilities.length; place++) {
            readLogits(forward, activation, place, logits);
            probabilities[place] = logits[text[place + 1]] - Continuation.logSumExp(logits);
        }
        forward.pool().give(activation);
        return probabilities;
    }

    int vocabularySize() {
        return vocabularySize;
    }

    int longest() {
        return longest;
    }

    /** Takes the cache of a text that ended, for another. */
    void release(KeyValueCache cache) {
        caches.push(cache);
    }

    /** Reads tokens as the beginning of a text; activations are reused for prompts of this length. */
    void readPrompt(int[] tokens, KeyValueCache cache, double[] logits) {
        cache.clear();
        read(windowOf(tokens.length), tokens, cache, logits);
    }

    /** Reads the next token of a text. */
    void readRow(int token, KeyValueCache cache, double[] logits) {
        read(row, new int[]{token}, cache, logits);
    }

    private SequenceForward windowOf(int length) {
        if (window == null || window.length() != length) {
            closeWindow();
            window = layers.ofLength(length);
        }
        return window;
    }

    private void read(SequenceForward forward, int[] tokens, KeyValueCache cache, double[] logits) {
        Tensor activation = forward.beforeHead(tokens, MicrobatchContext.continuing(tokens.length, cache));
        cache.advance(tokens.length);
        readLogits(forward, activation, tokens.length - 1, logits);
        forward.pool().give(activation);
    }

    /** Copies the logits after a token to host memory. */
    private void readLogits(SequenceForward forward, Tensor activation, int place, double[] target) {
        Tensor last = engine.range(activation, place * (long) hidden, Shape.of(1, hidden));
        // Rounded as logits of training are.
        Tensor rounded = forward.pool().take(Shape.of(1, vocabularySize));
        forward.head().logitsOfRow(last, rounded);
        Tensor logits = forward.pool().takeFloats(rounded.shape());
        engine.cast(rounded, logits);
        engine.copyToHost(logits, 0, hostLogits);
        forward.pool().give(rounded);
        forward.pool().give(logits);
        HostNumbers.load(engine.parameterType(), hostLogits, target, 0);
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
        caches.forEach(KeyValueCache::close);
        caches.clear();
        layers.close();
        if (hostMemory.scope().isAlive()) {
            hostMemory.close();
        }
    }
}
