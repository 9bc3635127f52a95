package dev.troupe.plan.prepare;

import dev.troupe.batch.Batches;
import dev.troupe.batch.Order;
import dev.troupe.batch.SequenceLengths;
import dev.troupe.batch.Sequences;
import dev.troupe.batch.ValidationBatches;
import dev.troupe.config.RunSpec;
import dev.troupe.config.spec.DataSpec;
import dev.troupe.data.Corpus;
import dev.troupe.data.CorpusFiles;
import dev.troupe.data.DataException;
import dev.troupe.data.DataSplit;
import dev.troupe.data.TokenCache;
import dev.troupe.data.Tokens;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.rows.PackedRows;
import dev.troupe.rows.RowSettings;
import dev.troupe.tokenizer.Tokenizer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * The training and validation data of a run, open and checked. Thread rule: any thread may read it; close it when the run is
 * over.
 */
public final class RunData implements AutoCloseable {
    private final DataSpec spec;
    private final Tokenizer tokenizer;
    private final ModelSpec model;
    private final int sequenceLength;
    private final List<String> notes = new ArrayList<>();
    private final List<Runnable> closing = new ArrayList<>();
    private final CorpusFiles.Kind kind;
    private final OpenedData data;

    /**
     * Opens the data.
     *
     * @param tokenizer for text
     * @param builtIn UTF-8 text if the configuration names no data
     * @param inMemory UTF-8 text in place of the configured data
     * @param start the model, and the length of a sequence
     * @throws DataException if the data cannot be read, are too short, or have tokens that the model does not know
     */
    public RunData(DataSpec spec, Tokenizer tokenizer, byte[] builtIn, Optional<byte[]> inMemory,
            StartingPoint start) {
        this.spec = spec;
        this.tokenizer = tokenizer;
        this.model = start.model();
        this.sequenceLength = start.sequenceLength();
        notes.addAll(start.notes());
        String ofText = inMemory.isPresent() ? "the text in memory" : "the built-in corpus";
        try {
            Optional<CorpusFiles> trained = inMemory.isPresent() ? Optional.empty() : find(spec.paths());
            Optional<CorpusFiles> measured = find(spec.validationPaths());
            this.kind = trained.map(CorpusFiles::kind).orElse(CorpusFiles.Kind.TEXT);
            if (measured.isPresent() && measured.get().kind() != kind) {
                throw new DataException(
                        "data.path and data.validation-path must both be text, tokens or documents, but found "
                                + trained.map(CorpusFiles::name).orElse(ofText) + " and "
                                + measured.get().name());
            }
            this.data = kind == CorpusFiles.Kind.DOCUMENTS
                    ? documents(trained.orElseThrow(), measured)
                    : text(trained, measured, ofText, inMemory.orElse(builtIn));
        } catch (RuntimeException refused) {
            close();
            throw refused;
        }
    }

    private static Optional<CorpusFiles> find(List<Path> names) {
        return names.isEmpty() ? Optional.empty() : Optional.of(CorpusFiles.find(names));
    }

    private OpenedData text(Optional<CorpusFiles> trained, Optional<CorpusFiles> measured, String ofText,
            byte[] utf8) {
        TokenCache cache = cache(spec.cache());
        Function<CorpusFiles, Tokens> opened = found -> opened(
                Corpus.open(found, tokenizer, cache, spec.tokenBytes()));
        Tokens all = trained.map(opened)
                .orElseGet(() -> opened(Corpus.ofText(ofText, utf8, tokenizer)));
        return OpenedData.of(all, measured.map(opened)
                .map(other -> DataSplit.of(all, other, sequenceLength))
                .orElseGet(() -> DataSplit.of(all, spec.validationFraction(), sequenceLength)), sequenceLength);
    }

    private Tokens opened(Corpus corpus) {
        closing.add(corpus::close);
        corpus.tokens().requireVocabulary(model.size(Axis.VOCABULARY));
        return corpus.tokens();
    }

    private OpenedData documents(CorpusFiles trained, Optional<CorpusFiles> measured) {
        boolean separates = model.family().separatesDocuments();
        if (spec.documents().packs() && !separates) {
            notes.add("each document has a row of its own, since a model of the family " + model.family().name()
                    + " cannot separate the documents of a row");
        }
        RowSettings settings = new RowSettings(sequenceLength, spec.documents().packs() && separates, separates,
                spec.documents().cutsLongText());
        TokenCache cache = cache(spec.cache());
        Function<CorpusFiles, PackedRows> opened = found -> opened(
                PackedRows.open(found, tokenizer, settings, cache));
        PackedRows all = opened.apply(trained);
        return measured.map(opened).map(other -> OpenedData.of(all, Optional.of(other)))
                .orElseGet(() -> OpenedData.of(all, spec.validationFraction()));
    }

    private PackedRows opened(PackedRows rows) {
        closing.add(rows::close);
        rows.requireVocabulary(model.size(Axis.VOCABULARY));
        return rows;
    }

    private TokenCache cache(String where) {
        return switch (where) {
            case DataSpec.NO_CACHE -> TokenCache.none();
            case DataSpec.CACHE_OF_USER -> TokenCache.in(
                    EngineChoice.cache(), notes::add);
            default -> TokenCache.in(Path.of(where), notes::add);
        };
    }

    private static Order order(DataSpec data) {
        return switch (data.order()) {
            case RANDOM -> Order.RANDOM;
            case SEQUENTIAL -> Order.SEQUENTIAL;
            case EPOCHS -> Order.EPOCHS;
        };
    }

    public String name() {
        return data.name();
    }

    /** Whether the tokenizer can decode the tokens. */
    public boolean isText() {
        return kind != CorpusFiles.Kind.TOKENS;
    }

    public String trainingAmount() {
        return data.trainingAmount();
    }

    /** Returns the amount of validation data as text; empty if there are none. */
    public String validationAmount() {
        return data.validationAmount();
    }

    public Sequences sequences() {
        return data.training();
    }

    /** Returns the sequences of each step of a run on these data. */
    Batches batches(RunSpec run) {
        return new Batches(data.training(), order(spec), spec.seed(), run.training().globalBatchSize(), lengths(run));
    }

    /** Returns the batches of the validation loss of a run; empty if it is not measured. */
    Optional<ValidationBatches> validation(RunSpec run) {
        return run.training().commits().validateEvery() == 0
                ? Optional.empty()
                : data.validation().map(part -> new ValidationBatches(part, run.training().microbatchSize(),
                        run.training().commits().validationMicrobatches(), lengths(run)));
    }

    private SequenceLengths lengths(RunSpec run) {
        return SequenceLengths.of(sequenceLength,
                run.parallel().sequence() || run.training().memory().replay().partition()
                        ? run.parallel().ranks().tensor()
                        : 1);
    }

    /** Whether a sequence may have several documents that must not see each other. */
    public boolean separatesDocuments() {
        return data.separatesDocuments();
    }

    /** Returns sentences for the user on the model's files, on the token cache and on rows. */
    public List<String> notes() {
        return List.copyOf(notes);
    }

    @Override
    public void close() {
        closing.forEach(Runnable::run);
    }
}
