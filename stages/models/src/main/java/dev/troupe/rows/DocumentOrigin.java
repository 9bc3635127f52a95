package dev.troupe.rows;

import java.nio.file.Path;

/**
 * The place at which documents were read.
 *
 * @param number the number of the line, or of the row in a Parquet file; the first is 1
 */
record DocumentOrigin(Path file, int fileIndex, long number) {
    @Override
    public String toString() {
        return file + (ParquetDocuments.isIn(file) ? ": row " : ": line ") + number;
    }
}
