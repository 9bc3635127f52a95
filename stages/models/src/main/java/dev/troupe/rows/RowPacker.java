package dev.troupe.rows;

import dev.troupe.data.DataException;
import dev.troupe.data.IdSink;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;

/**
 * The packer of documents into rows, in order: a document that does not fit begins a new row (next fit). For each document
 * it writes a header of four numbers, then each id times two, plus one if the id counts; {@link RowTable} reads them. If the
 * sink fails, {@link UncheckedIOException} is thrown. One thread at a time.
 */
final class RowPacker {
    /** In a header: the file's index times two, plus one if a row begins. */
    static final int FILE = 0;
    /** In a header: the number of the line or row of the file. */
    static final int NUMBER = 1;
    /** In a header: the number of ids. */
    static final int LENGTH = 2;
    /** In a header: the number of targets that count. */
    static final int COUNTED = 3;
    /** Numbers of a header. */
    static final int HEADER = 4;

    private final RowSettings settings;
    private final IdSink sink;
    private final int[] header = new int[HEADER];
    private int[] numbers = new int[0];
    private DocumentOrigin rowOrigin;
    private int rowLength;
    private int rowCounted;
    private long documentCount;

    RowPacker(RowSettings settings, IdSink sink) {
        this.settings = settings;
        this.sink = sink;
    }

    long documentCount() {
        return documentCount;
    }

    /**
     * Adds a row of its file.
     *
     * @throws DataException if it is too long, has several documents that the model cannot separate, or nothing counts in it
     */
    void addRow(DocumentOrigin origin, List<Document> documents) {
        if (documents.size() > 1 && !settings.separatesDocuments()) {
            throw new DataException(origin + " is a row of " + documents.size()
                    + " documents, which a model with a table of"
                    + " positions, such as GPT-2, cannot separate; write one document a line, or take another model");
        }
        int length = documents.stream().mapToInt(Document::length).sum();
        if (length > settings.sequenceLength()) {
            throw new DataException(
                    String.format(Locale.ROOT,
                            "%s is a row of %d tokens, longer than model.sequence-length = %d; set that to %d or "
                                    + "more, or write shorter rows",
                            origin, length, settings.sequenceLength(), length));
        }
        endRow();
        for (Document document : documents) {
            write(origin, document);
        }
        endRow();
    }

    /**
     * Adds a document.
     *
     * @param isText whether it may be cut
     * @throws DataException if it is too long, or nothing counts in the row before it
     */
    void add(DocumentOrigin origin, Document document, boolean isText) {
        int longest = settings.sequenceLength();
        if (document.length() <= longest) {
            addWhole(origin, document);
            return;
        }
        if (!isText || !settings.cutsLongText()) {
            throw new DataException(
                    String.format(Locale.ROOT,
                            "%s is a document of %d tokens, longer than model.sequence-length = %d; set that to %d or "
                                    + "more, or %s",
                            origin, document.length(), longest, document.length(),
                            isText ? "data.cut-long-text = true, or shorten the text" : "leave the chat out"));
        }
        // A piece begins with the last token of the one before, so that each token but the first is a target once.
        for (int from = 0; from < document.length() - 1; from += longest - 1) {
            addWhole(origin, document.between(from, Math.min(document.length(), from + longest)));
        }
    }

    private void addWhole(DocumentOrigin origin, Document document) {
        if (!settings.isPacked() || rowLength + document.length() > settings.sequenceLength()) {
            endRow();
        }
        write(origin, document);
    }

    private void write(DocumentOrigin origin, Document document) {
        boolean beginsRow = rowLength == 0;
        if (beginsRow) {
            rowOrigin = origin;
        }
        int counted = document.countedTargets();
        header[FILE] = origin.fileIndex() << 1 | (beginsRow ? 1 : 0);
        header[NUMBER] = (int) Math.min(Integer.MAX_VALUE, origin.number());
        header[LENGTH] = document.length();
        header[COUNTED] = counted;
        if (numbers.length < document.length()) {
            numbers = new int[document.length()];
        }
        for (int i = 0; i < document.length(); i++) {
            numbers[i] = document.ids()[i] << 1 | (document.isCounted()[i] ? 1 : 0);
        }
        try {
            sink.append(header);
            sink.append(numbers, document.length());
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        documentCount++;
        rowLength += document.length();
        rowCounted += counted;
    }

    /**
     * Ends the row in progress, if any.
     *
     * @throws DataException if nothing counts in it
     */
    void endRow() {
        if (rowLength > 0 && rowCounted == 0) {
            throw new DataException(rowOrigin + " begins a row of " + rowLength + " tokens in which no target counts;"
                    + " leave these documents out, or let another token than the first of a document count");
        }
        rowLength = 0;
        rowCounted = 0;
    }
}
