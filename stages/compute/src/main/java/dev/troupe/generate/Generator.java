package dev.troupe.generate;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.MicrobatchContext;
import dev.troupe.layer.cache.CachedRows;
import dev.troupe.layer.cache.KeyValueCache;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.weights.WeightSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * A generator that continues texts, token by token, with a whole model on one engine. The next rows of several texts are
 * one forward ({@link #read}): the last token of a text, or the next part of a prompt. Keys and values of all places are
 * cached. If the text is longer than the context, its end is read as a prompt again for each token.
 *
 * <p>On an engine with exact rows, no text changes a bit of another. On others, logits may differ in their last bits.
 *
 * <p>Thread rule: as for the engine, which stays the caller's.
 */
public final class Generator implements AutoCloseable {
    /** The most rows of a forward: enough for a product to be as fast as in training. */
    private static final int MOST_ROWS = 256;

    private final Engine engine;
    private final int longest;
    private final int vocabularySize;
    private final ModelLayers layers;
    /** The forward of the rows of texts. */
    private final SequenceForward rows;
    private final LastLogits lastLogits;
    /** Whether this has the weights, the caches and the memory of logits, which generators with adapters use too. */
    private final boolean isBase;
    /** The caches that no text has. */
    private final Deque<KeyValueCache> caches;
    /** The forward of the last text that was read as in training; null before the first. */
    private SequenceForward window;

    /**
     * Reads a whole model.
     *
     * @param most the most tokens of the context, if the model has positions for them. A cache is allocated for all of
     *     them, and a published model may have 131,072 positions
     * @throws dev.troupe.weights.WeightException if the source lacks a tensor
     */
    public Generator(Engine engine, ModelSpec model, WeightSource source, int most) {
        this(engine, model, source, most, MOST_ROWS);
    }

    /** As the other, with at most so many rows in a forward. */
    Generator(Engine engine, ModelSpec model, WeightSource source, int most, int mostRows) {
        this(engine, model, Math.min(model.size(Axis.POSITION), most),
                new ModelLayers(engine, model, source, Math.min(model.size(Axis.POSITION), most)), mostRows,
                new ArrayDeque<>(), new LastLogits(engine, model.size(Axis.HIDDEN), model.size(Axis.VOCABULARY)), true);
    }

    private Generator(Engine engine, ModelSpec model, int longest, ModelLayers layers, int mostRows,
            Deque<KeyValueCache> caches, LastLogits lastLogits, boolean isBase) {
        this.engine = engine;
        this.longest = longest;
        this.vocabularySize = model.size(Axis.VOCABULARY);
        this.layers = layers;
        this.caches = caches;
        this.rows = layers.ofLength(Math.min(mostRows, longest));
        this.lastLogits = lastLogits;
        this.isBase = isBase;
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
        return new Generator(engine, adapted, longest, layers.withAdapters(adapted, adapters),
                rows.length(), caches, lastLogits, false);
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
        cache.clear();
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
        double[][] logits = new double[LastLogits.MOST][vocabularySize];
        double[] probabilities = new double[text.length - 1];
        int[] read = Arrays.copyOf(text, probabilities.length);
        SequenceForward forward = windowOf(read.length);
        Tensor activation = forward.beforeHead(read, MicrobatchContext.plain(read.length));
        for (int first = 0; first < read.length; first += logits.length) {
            int[] places = IntStream.range(first, Math.min(read.length, first + logits.length)).toArray();
            lastLogits.read(forward, activation, places, number -> logits[number]);
            for (int i = 0; i < places.length; i++) {
                probabilities[places[i]] = logits[i][text[places[i] + 1]] - Continuation.logSumExp(logits[i]);
            }
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

    /**
     * Reads the next rows of each text that has some, in as few forwards as hold them: the last token of a text, and as much
     * of prompts as there is room for. A prompt that finds no room is read later, so that a long one does not delay others.
     *
     * @param texts of this generator, in the order in which prompts get room
     */
    public void read(List<Continuation> texts) {
        List<Continuation> some = new ArrayList<>();
        for (Continuation text : texts) {
            if (text.unread() == 1) {
                some.add(text);
                if (some.size() == rows.length()) {
                    forward(some);
                    some.clear();
                }
            }
        }
        texts.stream().filter(text -> text.unread() > 1).forEach(some::add);
        if (!some.isEmpty()) {
            forward(some);
        }
    }

    /** Reads the next rows of texts: one of each, and more of the first that have more. */
    private void forward(List<Continuation> texts) {
        int[] tokens = new int[rows.length()];
        int count = 0;
        List<Continuation> read = new ArrayList<>();
        List<CachedRows.Text> parts = new ArrayList<>();
        for (Continuation text : texts) {
            int some = Math.min(text.unread(), rows.length() - count);
            if (some > 0) {
                text.copyUnread(some, tokens, count);
                count += some;
                read.add(text);
                parts.add(new CachedRows.Text(text.cache(), some));
            }
        }
        CachedRows all = new CachedRows(engine, parts);
        Tensor activation = rows.beforeHead(tokens, MicrobatchContext.continuing(all));
        all.advance();
        int end = 0;
        List<Continuation> complete = new ArrayList<>();
        int[] places = new int[read.size()];
        for (int i = 0; i < read.size(); i++) {
            end += parts.get(i).rows();
            if (read.get(i).unread() == 0) {
                places[complete.size()] = end - 1;
                complete.add(read.get(i));
            }
        }
        lastLogits.read(rows, activation, Arrays.copyOf(places, complete.size()),
                number -> complete.get(number).logits());
        rows.pool().give(activation);
        complete.forEach(Continuation::ready);
    }

    private SequenceForward windowOf(int length) {
        if (window == null || window.length() != length) {
            closeWindow();
            window = layers.ofLength(length);
        }
        return window;
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
        rows.close();
        if (isBase) {
            lastLogits.close();
            caches.forEach(KeyValueCache::close);
            caches.clear();
        }
        layers.close();
    }
}
