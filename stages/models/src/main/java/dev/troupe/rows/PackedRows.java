package dev.troupe.rows;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.batch.Sequences;
import dev.troupe.data.CorpusFiles;
import dev.troupe.data.DataException;
import dev.troupe.data.KeptIds;
import dev.troupe.data.TokenCache;
import dev.troupe.tokenizer.Tokenizer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Rows of S tokens, each with one or several documents, which do not attend to each other. The ids are in a mapped file of
 * the cache, or in memory outside the heap; on the heap a row takes some 16 bytes.
 *
 * <p>Thread rule: any thread, until they are closed.
 */
public final class PackedRows implements Sequences, AutoCloseable {
    private static final int CHECKED_AT_A_TIME = 1 << 12;

    private final String name;
    private final RowTable table;
    private final int first;
    private final int count;
    private final RowFigures figures;
    private final Runnable release;

    private PackedRows(String name, RowTable table, int first, int count, Runnable release) {
        this.name = name;
        this.table = table;
        this.first = first;
        this.count = count;
        this.figures = table.figures(first, first + count);
        this.release = release;
    }

    /**
     * Reads files of documents. The caller closes the rows.
     *
     * @param files of the kind {@link CorpusFiles.Kind#DOCUMENTS}
     * @param tokenizer for text, and for messages in the chat template of its folder; unused by ids
     * @param cache the cache of rows that were made of the same files in the same way
     * @throws DataException if a file cannot be read or makes no rows, with file and line
     */
    public static PackedRows open(CorpusFiles files, Tokenizer tokenizer, RowSettings settings, TokenCache cache) {
        if (files.kind() != CorpusFiles.Kind.DOCUMENTS) {
            throw new DataException(files.files().getFirst() + " holds no documents; name .jsonl or .parquet files");
        }
        Arena arena = Arena.ofShared();
        try {
            RowMaker maker = new RowMaker(files, tokenizer, settings);
            MemorySegment numbers = KeptIds.of(files, maker.purpose(), cache, maker::make, arena);
            RowTable table = new RowTable(files.files(), settings.sequenceLength(), numbers);
            return new PackedRows(files.name(), table, 0, table.rows(), arena::close);
        } catch (RuntimeException refused) {
            arena.close();
            throw refused;
        }
    }

    public String name() {
        return name;
    }

    @Override
    public int sequenceLength() {
        return table.sequenceLength();
    }

    public long rowCount() {
        return count;
    }

    @Override
    public long windowCount() {
        return count;
    }

    @Override
    public long positionOf(long window) {
        return window;
    }

    @Override
    public long positionCount() {
        return count;
    }

    /** Returns whether any row holds several documents; for a part, any row of the whole. */
    @Override
    public boolean separatesDocuments() {
        return table.holdsSeveral();
    }

    @Override
    public int countedTargets(long row) {
        return table.counted(index(row));
    }

    @Override
    public int tokenCount(long row) {
        return table.length(index(row));
    }

    @Override
    public void fill(long row, MicrobatchRows rows, int at, int length) {
        table.fill(index(row), rows.inputs(), rows.targets(), rows.starts(), at, length);
    }

    public RowFigures figures() {
        return figures;
    }

    private int index(long row) {
        return first + (int) Objects.checkIndex(row, count);
    }

    /**
     * Copies a row: S values into each array. Nothing is allocated.
     *
     * @param inputs receives the tokens, and 0 for padding at the end of the row
     * @param targets receives the next token of the document if it counts, and otherwise
     *     {@link dev.troupe.engine.TokenKernels#NOT_COUNTED}
     * @param starts receives for each place the index in the row at which its document begins; padding is one last document
     * @param at index of the first value to write, in all three
     */
    void fill(long row, int[] inputs, int[] targets, int[] starts, int at) {
        table.fill(index(row), inputs, targets, starts, at, sequenceLength());
    }

    /**
     * Checks every id against a vocabulary, with a thread for each core.
     *
     * @throws DataException with file and line of the first id that it does not have
     */
    public void requireVocabulary(int vocabularySize) {
        int end = first + count;
        IntStream.range(0, Math.ceilDiv(count, CHECKED_AT_A_TIME)).parallel()
                .map(block -> first + block * CHECKED_AT_A_TIME)
                .mapToObj(from -> table.firstBeyond(vocabularySize, from, Math.min(end, from + CHECKED_AT_A_TIME)))
                .flatMap(Optional::stream).findFirst().ifPresent(beyond -> {
                    throw new DataException(beyond.origin() + " has the token " + beyond.id()
                            + ", but the model's vocabulary has " + vocabularySize + " tokens, 0 to "
                            + (vocabularySize - 1) + "; set model.vocabulary-size to " + (beyond.id() + 1)
                            + " or more, or use another file or tokenizer");
                });
    }

    /**
     * Returns some of the rows, without a copy: they are valid until the whole is closed; closing a part has no effect.
     *
     * @param firstRow the row that is row 0 of the part
     */
    public PackedRows part(String partName, long firstRow, long rowCount) {
        Objects.checkFromIndexSize(firstRow, rowCount, count);
        return new PackedRows(partName, table, first + (int) firstRow, (int) rowCount, () -> {
        });
    }

    @Override
    public void close() {
        release.run();
    }
}
