package dev.troupe.prepare;

import dev.troupe.config.RunSpec;
import dev.troupe.config.spec.DataSpec;
import dev.troupe.batch.Batches;
import dev.troupe.data.Corpus;
import dev.troupe.data.CorpusFiles;
import dev.troupe.data.DataException;
import dev.troupe.batch.Order;
import dev.troupe.data.Split;
import dev.troupe.data.TokenCache;
import dev.troupe.data.Tokens;
import dev.troupe.batch.TextSequences;
import dev.troupe.batch.ValidationBatches;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.tokenizer.Tokenizer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The training and validation data of a run, open and checked.
 *
 * <p>Thread rule: any thread may read it; close it when the run is over.
 */
public final class RunData implements AutoCloseable {
    private final String name;
    private final boolean isText;
    private final Split split;
    private final Batches batches;
    private final Optional<ValidationBatches> validation;
    private final List<String> notes = new ArrayList<>();
    private final List<Corpus> corpora = new ArrayList<>();

    /**
     * Opens the data of a configuration.
     *
     * @param tokenizer
     *            for text
     * @param builtIn
     *            UTF-8 text where the configuration names no data
     * @throws DataException
     *             where the data cannot be read, are too short, or have tokens that the model does not know
     */
    RunData(RunSpec spec, Tokenizer tokenizer, byte[] builtIn, ModelSpec model, int sequenceLength) {
        DataSpec data = spec.data();
        try {
            Optional<CorpusFiles> files = find(data.paths());
            Optional<CorpusFiles> measured = find(data.validationPaths());
            this.isText = files.isEmpty() || !files.get().areTokens();
            if (measured.isPresent() && measured.get().areTokens() == isText) {
                throw new DataException(
                        "data.path and data.validation-path must both be text or both be tokens, but found "
                                + files.map(CorpusFiles::name).orElse("the built-in corpus") + " and "
                                + measured.get().name());
            }
            TokenCache cache = cache(data.cache());
            Tokens tokens = opened(files.map(found -> Corpus.open(found, tokenizer, cache, data.tokenBytes()))
                    .orElseGet(() -> Corpus.ofText("the built-in corpus", builtIn, tokenizer)), model);
            this.name = tokens.name();
            this.split = measured.isPresent()
                    ? Split.of(tokens, opened(Corpus.open(measured.get(), tokenizer, cache, data.tokenBytes()), model),
                            sequenceLength)
                    : Split.of(tokens, data.validationFraction(), sequenceLength);
            this.batches = new Batches(split.training(), order(data), data.seed(), sequenceLength,
                    spec.training().globalBatchSize());
            this.validation = spec.training().validateEvery() == 0
                    ? Optional.empty()
                    : split.validation().map(part -> new ValidationBatches(new TextSequences(part, sequenceLength),
                            spec.training().microbatchSize(), spec.training().validationMicrobatches()));
        } catch (RuntimeException refused) {
            close();
            throw refused;
        }
    }

    private static Optional<CorpusFiles> find(List<Path> names) {
        return names.isEmpty() ? Optional.empty() : Optional.of(CorpusFiles.find(names));
    }

    private TokenCache cache(String where) {
        return switch (where) {
            case DataSpec.NO_CACHE -> TokenCache.none();
            case DataSpec.CACHE_OF_USER -> TokenCache.in(
                    TokenCache.ofUser(System.getenv("XDG_CACHE_HOME"), System.getProperty("user.home")), notes::add);
            default -> TokenCache.in(Path.of(where), notes::add);
        };
    }

    private Tokens opened(Corpus corpus, ModelSpec model) {
        corpora.add(corpus);
        corpus.tokens().requireVocabulary(model.size(Axis.VOCABULARY));
        return corpus.tokens();
    }

    private static Order order(DataSpec data) {
        return switch (data.order()) {
            case RANDOM -> Order.RANDOM;
            case SEQUENTIAL -> Order.SEQUENTIAL;
            case EPOCHS -> Order.EPOCHS;
        };
    }

    /** Returns the name of the training corpus. */
    public String name() {
        return name;
    }

    /** Whether tokens were made of text, so that a tokenizer can turn them into text. */
    public boolean isText() {
        return isText;
    }

    /** Returns the numbers of training and validation tokens, in words. */
    public String tokens() {
        return split.training().length() + " and " + validationTokens() + " tokens";
    }

    /** Returns the number of training tokens. */
    public long trainingTokens() {
        return split.training().length();
    }

    /** Returns the number of validation tokens, which may be 0. */
    public long validationTokens() {
        return split.validation().map(Tokens::length).orElse(0L);
    }

    /** The sequences of each step. */
    public Batches batches() {
        return batches;
    }

    /** Returns the batches of the validation loss; empty where it is not measured. */
    public Optional<ValidationBatches> validation() {
        return validation;
    }

    /** Returns sentences for the user on the token cache. */
    public List<String> notes() {
        return List.copyOf(notes);
    }

    @Override
    public void close() {
        corpora.forEach(Corpus::close);
    }
}
