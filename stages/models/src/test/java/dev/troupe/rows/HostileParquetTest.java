package dev.troupe.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.data.DataException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Files of Parquet that somebody made to keep their reader busy, or to fill its memory, end with a sentence. */
@Tag("plan")
class HostileParquetTest {
    /** A file of this size is given up after ten seconds; the rest is for a machine with other work. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int HUGE = Integer.MAX_VALUE;
    private static final int PLAIN = 0;
    private static final int RLE = 3;
    private static final int DICTIONARY = 8;
    private static final int UNCOMPRESSED = 0;
    private static final int SNAPPY = 1;
    private static final int GZIP = 2;
    private static final int ZSTD = 6;
    /** The pages begin after the first four bytes of a file. */
    private static final int FIRST_PAGE = 4;

    @TempDir
    private Path folder;

    /** A column of texts, in one chunk. */
    private static byte[] column(int codec, long values, int encoding, long dictionary, byte[] pages) {
        return ParquetBytes.file(pages, footer(values, chunk -> {
            chunk.i32(1, ParquetBytes.BYTE_ARRAY).numbers(2, encoding, RLE).texts(3, Entry.TEXT).i32(4, codec)
                    .i64(5, values).i64(6, pages.length).i64(7, pages.length).i64(9, FIRST_PAGE + dictionary);
            if (dictionary > 0) {
                chunk.i64(11, FIRST_PAGE);
            }
        }));
    }

    private static ParquetBytes footer(long rows, Consumer<ParquetBytes> chunk) {
        return new ParquetBytes().i32(1, 1).structs(2, 2)
                .struct(root -> root.text(4, "schema").i32(5, 1))
                .struct(leaf -> leaf.i32(1, ParquetBytes.BYTE_ARRAY).i32(3, ParquetBytes.REQUIRED).text(4, Entry.TEXT)
                        .i32(6, 0))
                .i64(3, rows).structs(4, 1)
                .struct(group -> group.structs(1, 1)
                        .struct(column -> column.i64(2, FIRST_PAGE).struct(3, chunk)).i64(2, 100).i64(3, rows))
                .end();
    }

    private static byte[] page(int values, int encoding, int uncompressed, byte[] content) {
        byte[] header = new ParquetBytes().i32(1, 0).i32(2, uncompressed).i32(3, content.length)
                .struct(5, data -> data.i32(1, values).i32(2, encoding).i32(3, RLE).i32(4, RLE)).end().toBytes();
        return joined(header, content);
    }

    private static byte[] dictionary(int values, byte[] content) {
        byte[] header = new ParquetBytes().i32(1, 2).i32(2, content.length).i32(3, content.length)
                .struct(7, data -> data.i32(1, values).i32(2, PLAIN)).end().toBytes();
        return joined(header, content);
    }

    private static byte[] joined(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    private static byte[] text(int length) {
        return ByteBuffer.allocate(4 + length).order(ByteOrder.LITTLE_ENDIAN).putInt(length).array();
    }

    private static byte[] gzip(byte[] content) {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
            out.write(content);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return packed.toByteArray();
    }

    /** Groups in each other, the innermost with a leaf. */
    private static byte[] nested(int depth) {
        ParquetBytes footer = new ParquetBytes().i32(1, 1).structs(2, depth + 2)
                .struct(root -> root.text(4, "schema").i32(5, 1));
        for (int group = 0; group < depth; group++) {
            String name = group == 0 ? Entry.TEXT : "g";
            footer.struct(one -> one.i32(3, ParquetBytes.OPTIONAL).text(4, name).i32(5, 1));
        }
        footer.struct(leaf -> leaf.i32(1, ParquetBytes.BYTE_ARRAY).i32(3, ParquetBytes.OPTIONAL).text(4, "leaf"));
        return ParquetBytes.file(new byte[0], footer.i64(3, 1).structs(4, 0).end());
    }

    /** Structs in each other in a field that no reader knows. */
    private static byte[] unknown(int depth) {
        ParquetBytes footer = new ParquetBytes().i32(1, 1);
        byte[] open = new byte[depth];
        Arrays.fill(open, (byte) 0x1c); // the first field of a struct, a struct
        byte[] all = joined(joined(footer.toBytes(), new byte[]{(byte) 0xac}), open);
        return ParquetBytes.file(new byte[0], joined(all, new byte[depth + 2]), all.length + depth + 2);
    }

    static Stream<Named<byte[]>> files() {
        byte[] one = page(1, PLAIN, 9, text(5));
        Map<String, byte[]> files = new TreeMap<>();
        files.put("a footer of 2 GiB", ParquetBytes.file(one, new byte[0], HUGE));
        files.put("a footer of less than nothing", ParquetBytes.file(one, new byte[0], -1));
        files.put("2 billion columns", ParquetBytes.file(one, new ParquetBytes().i32(1, 1).structs(2, HUGE)
                .struct(root -> root.text(4, "schema").i32(5, HUGE))));
        files.put("a root of 2 billion children", ParquetBytes.file(one, new ParquetBytes().i32(1, 1).structs(2, 1)
                .struct(root -> root.text(4, "schema").i32(5, HUGE)).i64(3, 1).structs(4, 0).end()));
        files.put("a root of less than no children", ParquetBytes.file(one, new ParquetBytes().i32(1, 1).structs(2, 1)
                .struct(root -> root.text(4, "schema").i32(5, -1)).i64(3, 1).structs(4, 0).end()));
        files.put("a name of 2 GiB", ParquetBytes.file(one, new ParquetBytes().i32(1, 1).structs(2, 2)
                .struct(root -> root.textOfLength(4, HUGE))));
        files.put("a name of 2^63 bytes", ParquetBytes.file(one, new ParquetBytes().i32(1, 1).structs(2, 2)
                .struct(root -> root.textOfLength(4, Long.MIN_VALUE))));
        files.put("2 billion row groups", ParquetBytes.file(one, new ParquetBytes().i32(1, 1).structs(2, 1)
                .struct(root -> root.text(4, "schema").i32(5, 0)).i64(3, 1).structs(4, HUGE)));
        files.put("a thousand groups in each other", nested(1_000));
        files.put("a million groups in each other", nested(1_000_000));
        files.put("a million structs in each other", unknown(1_000_000));
        files.put("2^62 rows without a page", column(UNCOMPRESSED, 1L << 62, PLAIN, 0, new byte[0]));
        files.put("2^62 rows in one", column(UNCOMPRESSED, 1L << 62, PLAIN, 0, one));
        files.put("less than no rows", column(UNCOMPRESSED, -1, PLAIN, 0, one));
        files.put("a page of 2 billion rows in one",
                column(UNCOMPRESSED, HUGE, PLAIN, 0, page(HUGE, PLAIN, 9, text(5))));
        files.put("a page of 2 GiB by Snappy", column(SNAPPY, 1, PLAIN, 0, page(1, PLAIN, HUGE,
                new byte[]{(byte) 0xff, (byte) 0xff, (byte) 0xff, (byte) 0xff, 7, 0})));
        files.put("a page of 2 GiB by Zstandard", column(ZSTD, 1, PLAIN, 0, page(1, PLAIN, HUGE,
                new byte[]{0x28, (byte) 0xb5, 0x2f, (byte) 0xfd, 0, 0x58, 1, 0, 0})));
        files.put("a page of 2 GiB by gzip", column(GZIP, 1, PLAIN, 0, page(1, PLAIN, HUGE, gzip(new byte[9]))));
        files.put("a text of 2 GiB", column(UNCOMPRESSED, 1, PLAIN, 0, page(1, PLAIN, 9,
                ByteBuffer.allocate(9).order(ByteOrder.LITTLE_ENDIAN).putInt(HUGE).array())));
        files.put("a text of 128 MiB by gzip", column(GZIP, 1, PLAIN, 0,
                page(1, PLAIN, 4 + (128 << 20), gzip(text(128 << 20)))));
        // 2 billion times the only text of the dictionary: a run of RLE with indices of no bits
        byte[] words = dictionary(1, text(5));
        byte[] run = {0, (byte) 0xfe, (byte) 0xff, (byte) 0xff, (byte) 0xff, 0x0f};
        files.put("2 billion rows of one text", column(UNCOMPRESSED, HUGE, DICTIONARY, words.length,
                joined(words, page(HUGE, DICTIONARY, run.length, run))));
        return files.entrySet().stream().map(file -> Named.of(file.getKey(), file.getValue()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("files")
    void shouldEndWithASentence(byte[] hostile) throws IOException {
        Path file = file(hostile);
        String refusal = assertTimeoutPreemptively(PATIENCE, () -> assertThrows(DataException.class, () -> read(file)))
                .getMessage();
        assertTrue(refusal.startsWith(file.toString()), refusal);
        assertTrue(refusal.length() < 500, refusal);
    }

    @Test
    void shouldReadRightFilesOfTheSameParts() throws IOException {
        byte[] words = dictionary(1, text(5));
        assertEquals(5, read(file(column(UNCOMPRESSED, 1, PLAIN, 0, page(1, PLAIN, 9, text(5))))));
        assertEquals(5, read(file(column(GZIP, 1, PLAIN, 0, page(1, PLAIN, 9, gzip(text(5)))))));
        assertEquals(15, read(file(column(UNCOMPRESSED, 3, DICTIONARY, words.length,
                joined(words, page(3, DICTIONARY, 2, new byte[]{0, 6}))))));
    }

    private Path file(byte[] bytes) throws IOException {
        return Files.write(folder.resolve("made.parquet"), bytes);
    }

    /** Reads all rows, and returns the bytes of their texts. */
    private static long read(Path file) {
        long[] bytes = {0};
        try (ParquetDocuments documents = new ParquetDocuments(file, 0)) {
            while (documents.tryAdvance(row -> bytes[0] += ((Entry.Text) row.entry().get()).text().length())) {
                assertTrue(bytes[0] < 1L << 40);
            }
        }
        return bytes[0];
    }
}
