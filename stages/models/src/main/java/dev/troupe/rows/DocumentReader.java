package dev.troupe.rows;

import java.nio.file.Path;
import java.util.Spliterator;

/** A reader of one file of documents, line by line. One thread at a time; the user closes it. */
interface DocumentReader extends Spliterator<Unread>, AutoCloseable {
    /**
     * Opens a file, by its suffix.
     *
     * @throws dev.troupe.data.DataException if it cannot be read, or is not of the kind of its suffix
     */
    static DocumentReader open(Path file, int fileIndex) {
        return ParquetDocuments.isIn(file) ? new ParquetDocuments(file, fileIndex) : new LineReader(file, fileIndex);
    }

    @Override
    default Spliterator<Unread> trySplit() {
        return null;
    }

    @Override
    default long estimateSize() {
        return Long.MAX_VALUE;
    }

    @Override
    default int characteristics() {
        return ORDERED | NONNULL;
    }

    @Override
    void close();
}
