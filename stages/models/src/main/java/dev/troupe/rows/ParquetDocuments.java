package dev.troupe.rows;

import dev.troupe.data.CorpusFiles;
import dev.troupe.data.DataException;
import dev.troupe.data.DataFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/** A reader of the rows of a Parquet file, with a time limit for its work. */
final class ParquetDocuments implements DocumentReader {
    private static final String SUFFIX = ".parquet";
    /** Some damaged files make the library loop forever. */
    private static final Duration LONGEST_OF_A_SMALL_FILE = Duration.ofSeconds(10);
    /** Bytes of a file for each further second of the limit: the library reads ten times that number. */
    private static final long BYTES_A_SECOND = 16 << 20;
    private static final int ROWS_AT_A_TIME = 64;
    /** Words of the library for a compression that it cannot read. */
    private static final Pattern COMPRESSION = Pattern.compile("(?i)codec|compress|lz4|lzo|brotli");
    private static final Pattern NO_PARQUET = Pattern.compile("(?i)magic|not a (valid )?parquet|too (small|short)");

    private final Path file;
    private final int fileIndex;
    private final Duration longest;
    private final StoppableInput input;
    /** The one thread that calls the library; it is stopped at the time limit. */
    private final ExecutorService thread = Executors
            .newSingleThreadExecutor(Thread.ofPlatform().name("parquet-reader").daemon().factory());
    private final Deque<Unread> found = new ArrayDeque<>();
    private final ParquetColumns columns;
    private boolean isDone;
    private long number;

    static boolean isIn(Path file) {
        return CorpusFiles.endsWith(file, SUFFIX);
    }

    /**
     * Opens a file.
     *
     * @throws DataException if it cannot be read, is no Parquet, or lacks the columns
     */
    ParquetDocuments(Path file, int fileIndex) {
        this(file, fileIndex, LONGEST_OF_A_SMALL_FILE.plusSeconds(file.toFile().length() / BYTES_A_SECOND));
    }

    ParquetDocuments(Path file, int fileIndex, Duration longest) {
        this.file = file;
        this.fileIndex = fileIndex;
        this.longest = longest;
        this.input = new StoppableInput(file);
        try (Arena own = Arena.ofShared()) {
            DataFile.map(file, own); // gives the reason if it cannot be read at all
        }
        try {
            this.columns = answered(() -> new ParquetColumns(file, input, LineReader.LONGEST_BYTES, mostBytes(file)));
        } catch (DataException refused) {
            thread.shutdown();
            throw refused;
        }
    }

    /**
     * Compression and dictionaries give a hundred bytes of text for each byte; a file with 4,096 was made to fill a disk.
     */
    private static long mostBytes(Path file) {
        return (file.toFile().length() << 12) + LineReader.LONGEST_BYTES;
    }

    @Override
    public boolean tryAdvance(Consumer<? super Unread> action) {
        if (found.isEmpty() && !isDone) {
            found.addAll(answered(this::some));
        }
        if (found.isEmpty()) {
            return false;
        }
        action.accept(found.remove());
        return true;
    }

    private List<Unread> some() {
        List<Unread> some = new ArrayList<>();
        while (some.size() < ROWS_AT_A_TIME && !isDone) {
            DocumentOrigin origin = new DocumentOrigin(file, fileIndex, ++number);
            try {
                if (columns.next()) {
                    Entry entry = columns.entry(origin);
                    some.add(new Unread(origin, () -> entry));
                } else {
                    isDone = true;
                }
            } catch (RuntimeException damaged) {
                isDone = true;
                some.add(new Unread(origin, () -> {
                    throw damaged instanceof DataException said ? said : unreadable(damaged);
                }));
            }
        }
        return some;
    }

    private <T> T answered(Callable<T> question) {
        try {
            return thread.submit(question).get(longest.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException failure) {
            throw failure.getCause() instanceof DataException said ? said : unreadable(failure.getCause());
        } catch (TimeoutException silent) {
            isDone = true;
            input.stop();
            throw new DataException(file + " is no Parquet file that can be read: it yields no row for "
                    + longest.toMillis() + " ms; write the file again", silent);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new DataException(file + " was not read to its end: the thread was interrupted", interrupted);
        }
    }

    private DataException unreadable(Throwable failure) {
        Throwable first = failure;
        while (first.getCause() != null) {
            first = first.getCause();
        }
        // The message is for programmers, and Java's own if a number of the file leads out of it.
        String said = String.valueOf(first.getMessage());
        String defect = COMPRESSION.matcher(said).find()
                ? "its compression is none of those that are supported"
                : NO_PARQUET.matcher(said).find()
                        ? "it does not begin and end as one"
                        : "a part of it is damaged";
        return new DataException(file + " is no Parquet file that can be read: " + defect
                + "; write it again, with snappy, zstd, gzip or no compression", failure);
    }

    @Override
    public void close() {
        thread.execute(() -> {
            try {
                columns.close();
            } catch (IOException _) {
                // What was read of the file is complete without it.
            }
        });
        thread.shutdown();
    }
}
