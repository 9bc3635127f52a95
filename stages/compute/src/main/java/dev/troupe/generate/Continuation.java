package dev.troupe.generate;

import dev.troupe.layer.cache.KeyValueCache;
import dev.troupe.weights.WeightException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * A text that a {@link Generator} continues, token by token. It has a cache of its own, so that any number of texts of one
 * generator may be continued alternately or together.
 *
 * <p>Thread rule: as for the generator, which is closed after it.
 */
public final class Continuation implements AutoCloseable {
    private final Generator generator;
    private final KeyValueCache cache;
    private final Sampler sampler;
    private final double[] logits;
    private final int promptLength;
    private int[] text;
    private int length;
    /** The token at the first place of the cache: later tokens move it, if the text is longer than the context. */
    private int first;
    private boolean isReady;
    /** The logarithm of the sum of exponentials at the last place; NaN until it is asked for. */
    private double logSum = Double.NaN;
    private boolean isClosed;

    Continuation(Generator generator, KeyValueCache cache, int[] prompt, Sampling sampling) {
        this.generator = generator;
        this.cache = cache;
        this.sampler = new Sampler(sampling, generator.vocabularySize());
        this.logits = new double[generator.vocabularySize()];
        this.text = prompt.clone();
        this.promptLength = prompt.length;
        this.length = prompt.length;
    }

    /**
     * Reads what is unread, adds a token to the text and returns it. The first call reads the prompt.
     *
     * @throws WeightException if the logits are no numbers
     */
    public int next() {
        while (!isReady) {
            generator.read(List.of(this));
        }
        return draw();
    }

    /** Returns the generator that reads this text. */
    public Generator generator() {
        return generator;
    }

    /** Whether all tokens are read, so that the next can be drawn. */
    public boolean isReady() {
        return isReady;
    }

    /** Called when the logits of the last token were written. */
    void ready() {
        isReady = true;
    }

    KeyValueCache cache() {
        return cache;
    }

    /** Returns the number of tokens that no forward has read; all of the context, if the text is longer. */
    int unread() {
        if (length - first > generator.longest()) {
            first = length - generator.longest();
            cache.clear();
        }
        return length - first - cache.length();
    }

    void copyUnread(int count, int[] target, int at) {
        System.arraycopy(text, first + cache.length(), target, at, count);
    }

    /**
     * Adds a token to the text that is {@linkplain #isReady ready}, and returns it.
     *
     * @throws WeightException if the logits are no numbers
     */
    public int draw() {
        if (!isReady) {
            throw new IllegalStateException("the text must be read before its next token is drawn");
        }
        isReady = false;
        requireNumbers();
        logSum = Double.NaN;
        int token = sampler.draw(logits, text, promptLength, length);
        if (length == text.length) {
            text = Arrays.copyOf(text, Math.addExact(length, Math.max(16, length / 2)));
        }
        text[length++] = token;
        return token;
    }

    /** A NaN among weights reaches every logit, and without this check a text of the first token. */
    private void requireNumbers() {
        for (double logit : logits) {
            if (Double.isNaN(logit)) {
                throw new WeightException("the logits after token " + length
                        + " of the text must be numbers, but found NaN: the weights are damaged, or the training"
                        + " diverged; take an earlier checkpoint");
            }
        }
    }

    /** Returns the tokens after the prompt. */
    public int[] written() {
        return Arrays.copyOfRange(text, promptLength, length);
    }

    /** Returns the number of tokens after the prompt. */
    public int count() {
        return length - promptLength;
    }

    /** Returns the logits at the place of the last token, valid until the next. */
    double[] logits() {
        return logits;
    }

    /** Returns how likely a token was at the place of the last token. */
    public TokenProbability probability(int token) {
        return new TokenProbability(token, logits[token] - logSum());
    }

    /** Returns the most likely tokens at the place of the last token, the most likely first. */
    public List<TokenProbability> likeliest(int count) {
        if (count == 0) {
            return List.of();
        }
        Comparator<Integer> order = Comparator.comparingDouble((Integer token) -> logits[token]).reversed()
                .thenComparing(Comparator.naturalOrder());
        PriorityQueue<Integer> kept = new PriorityQueue<>(order.reversed());
        for (int token = 0; token < logits.length; token++) {
            if (kept.size() < count) {
                kept.add(token);
            } else if (Double.compare(logits[token], logits[kept.element()]) > 0) {
                kept.remove();
                kept.add(token);
            }
        }
        return kept.stream().sorted(order).map(token -> new TokenProbability(token, logits[token] - logSum())).toList();
    }

    private double logSum() {
        if (Double.isNaN(logSum)) {
            logSum = logSumExp(logits);
        }
        return logSum;
    }

    static double logSumExp(double[] logits) {
        double largest = Arrays.stream(logits).max().orElseThrow();
        double sum = 0;
        for (double logit : logits) {
            sum += StrictMath.exp(logit - largest);
        }
        return largest + StrictMath.log(sum);
    }

    /** Returns the cache to the generator. */
    @Override
    public void close() {
        if (!isClosed) {
            isClosed = true;
            generator.release(cache);
        }
    }
}
