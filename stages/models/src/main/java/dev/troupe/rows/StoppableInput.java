package dev.troupe.rows;

import dev.hardwood.InputFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * A Parquet file with reads that fail after {@link #stop}. The library may read a damaged page forever, on its own threads,
 * which no interrupt reaches; a failed read ends them. Any thread.
 */
final class StoppableInput implements InputFile {
    private final InputFile file;
    private volatile boolean isStopped;

    StoppableInput(Path file) {
        this.file = InputFile.of(file);
    }

    /** Makes every read fail from now on. */
    void stop() {
        isStopped = true;
    }

    @Override
    public void open() throws IOException {
        file.open();
    }

    @Override
    public ByteBuffer readRange(long offset, int length) throws IOException {
        if (isStopped) {
            throw new IOException(file.name() + " is not read any more");
        }
        return file.readRange(offset, length);
    }

    @Override
    public long length() throws IOException {
        return file.length();
    }

    @Override
    public String name() {
        return file.name();
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
