package dev.troupe.rows;

import dev.troupe.data.CorpusFiles;
import dev.troupe.data.DataException;
import dev.troupe.data.IdSink;
import dev.troupe.tokenizer.Tokenizer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.stream.Gatherers;
import java.util.stream.StreamSupport;

/**
 * The maker of rows from files of documents, in one pass. Lines are parsed and encoded in parallel, and packed in their
 * order. One thread at a time.
 */
final class RowMaker {
    /** Increases if the same files would make other rows. */
    private static final int VERSION = 2;
    /** Twice the cores, since some lines wait for the thread that renders chats. */
    private static final int LINES_IN_PROGRESS = 2 * Runtime.getRuntime().availableProcessors();

    private final CorpusFiles files;
    private final Documents documents;
    private final RowSettings settings;

    RowMaker(CorpusFiles files, Tokenizer tokenizer, RowSettings settings) {
        this.files = files;
        this.documents = new Documents(tokenizer);
        this.settings = settings;
    }

    /** Returns a text of all inputs of the rows other than the files. */
    String purpose() {
        return "rows " + VERSION + ", " + settings + ", of " + documents.identity();
    }

    /**
     * Makes the rows.
     *
     * @throws DataException if a file cannot be read or makes no rows, with file and line
     * @throws IOException of the sink
     */
    void make(IdSink sink) throws IOException {
        RowPacker packer = new RowPacker(settings, sink);
        for (int index = 0; index < files.files().size(); index++) {
            addFile(files.files().get(index), index, packer);
        }
        packer.endRow();
    }

    private void addFile(Path file, int index, RowPacker packer) throws IOException {
        long before = packer.documentCount();
        try (DocumentReader reader = DocumentReader.open(file, index)) {
            StreamSupport.stream(reader, false).gather(Gatherers.mapConcurrent(LINES_IN_PROGRESS, this::read))
                    .forEachOrdered(packing -> packing.into(packer));
        } catch (UncheckedIOException failure) {
            throw failure.getCause();
        }
        if (packer.documentCount() == before) {
            throw new DataException(file + " has no document; leave the file out");
        }
    }

    /** The last part of the work on a line, in the order of lines: packs its documents into rows. */
    private interface Packing {
        void into(RowPacker packer);
    }

    private Packing read(Unread line) {
        DocumentOrigin origin = line.origin();
        return switch (line.entry().get()) {
            case Entry.Row row -> packer -> packer.addRow(origin, row.documents());
            case Entry.Text text -> {
                Document document = documents.ofText(origin, text.text());
                yield packer -> packer.add(origin, document, true);
            }
            case Entry.Chat chat -> {
                Document document = documents.ofChat(origin, chat.variables());
                yield packer -> packer.add(origin, document, false);
            }
        };
    }
}
