package dev.troupe.look.model;

import dev.troupe.config.RunSpec;
import dev.troupe.engine.Engine;
import dev.troupe.generate.Generator;
import dev.troupe.generate.Sampling;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.checkpoint.RunCompanions;
import dev.troupe.plan.error.UserErrors;
import dev.troupe.plan.prepare.WholeModel;
import dev.troupe.tokenizer.Tokenizer;
import dev.troupe.weights.huggingface.EndTokens;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * A model that continues a text, with its tokenizer, after all checks. Nothing is written. Thread rule: one thread; close it
 * at the end.
 */
public final class Generation implements AutoCloseable {
    private final WholeModel whole;
    private final Set<Integer> ends = new TreeSet<>();

    /**
     * Opens and checks all parts.
     *
     * @param from the run or checkpoint that has the weights; empty: the weights with which a run of the configuration
     *     begins
     * @throws RuntimeException with a sentence for the user if the request is wrong: see {@link UserErrors}
     */
    public Generation(RunSpec spec, Optional<Path> from) {
        whole = WholeModel.of(spec, from);
        try {
            whole.tokenizer().endOfText().ifPresent(ends::add);
            RunCompanions.of(spec, model(), Optional.of(whole.tokenizer()), from).model().map(EndTokens::in)
                    .ifPresent(ends::addAll);
        } catch (RuntimeException refused) {
            whole.close();
            throw refused;
        }
    }

    public ModelSpec model() {
        return whole.start().model();
    }

    /** Returns sentences for the user on unusual facts in the files of the model. */
    public List<String> notes() {
        return whole.start().notes();
    }

    /**
     * Returns the text after a prompt, up to a token that ends a text, without that token. The tokenizer or the files of the
     * base model name these tokens.
     *
     * @param count maximum number of added tokens
     * @throws UsageException if the prompt has no token, or one that the model does not know, or if prompt and text are too
     *     long for the model
     */
    public String write(String prompt, int count, Sampling sampling) {
        Tokenizer tokenizer = whole.tokenizer();
        int[] tokens = tokens(prompt);
        int longest = require(tokens, count);
        whole.requireRoom(sizes -> {
            try (Generator generator = generator(sizes, longest)) {
                generator.generate(tokens, Math.min(count, 2), sampling);
                return sizes.allocatedBytes();
            }
        });
        int[] written;
        try (Engine engine = whole.choice().open(); Generator generator = generator(engine, longest)) {
            written = generator.generate(tokens, count, sampling, ends::contains);
        }
        boolean hasEnded = written.length > 0 && ends.contains(written[written.length - 1]);
        return tokenizer.decode(IntStream.of(written).limit(written.length - (hasEnded ? 1 : 0)).toArray());
    }

    /** Returns the number of positions that the model has after a prompt; less than 1 if the prompt is too long. */
    public int roomAfter(String prompt) {
        return model().size(Axis.POSITION) - tokens(prompt).length;
    }

    private int[] tokens(String prompt) {
        Tokenizer tokenizer = whole.tokenizer();
        return IntStream.concat(IntStream.of(tokenizer.beforeText()), IntStream.of(tokenizer.encode(prompt))).toArray();
    }

    /** Returns the number of tokens of prompt and text, after checks. */
    private int require(int[] prompt, int count) {
        if (prompt.length == 0) {
            throw new UsageException("a prompt must have at least one token, but found none: write a word");
        }
        int vocabulary = model().size(Axis.VOCABULARY);
        IntStream.of(prompt).filter(token -> token >= vocabulary).findFirst().ifPresent(token -> {
            throw new UsageException(
                    "the prompt has the token " + token + ", but the model's vocabulary has " + vocabulary
                            + " tokens: set data.tokenizer to the model's own");
        });
        long longest = (long) prompt.length + count;
        int positions = model().size(Axis.POSITION);
        if (prompt.length >= positions) {
            throw new UsageException("the prompt has " + prompt.length + " tokens, but the model has positions for "
                    + positions + ", of which the text needs one at least: shorten the prompt");
        }
        if (longest > positions) {
            throw new UsageException("the prompt of " + prompt.length + " tokens and " + count + " more are " + longest
                    + ", but the model has positions for " + positions + ": ask for " + (positions - prompt.length)
                    + " or fewer, or shorten the prompt");
        }
        return (int) longest;
    }

    private Generator generator(Engine engine, int longest) {
        return new Generator(engine, model(), whole.start().weights(), longest);
    }

    @Override
    public void close() {
        whole.close();
    }
}
