package dev.troupe.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.data.DataException;
import dev.troupe.tokenizer.Tokenizer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that PyArrow 25 wrote; record 0046 has how. */
@Tag("plan")
@Timeout(120)
class ParquetDocumentsTest {
    private static final RowSettings SETTINGS = new RowSettings(64, false, false);

    @TempDir
    private Path folder;

    /** Five rows in three row groups, compressed with Snappy. */
    @Test
    void shouldReadText() {
        Tokenizer bytes = Tokenizer.named("bytes");
        try (PackedRows rows = Folder.open(file("text"), bytes, SETTINGS)) {
            assertEquals(5, rows.rowCount());
            assertEquals("one", text(bytes, rows, 0, 3));
            assertEquals("три", text(bytes, rows, 2, 6));
            assertEquals("fünf 😀", text(bytes, rows, 4, 10));
        }
    }

    /** The chats of the rows, compressed with Zstandard, equal to the chats of lines. */
    @Test
    void shouldReadMessages() {
        Tokenizer qwen = Folder.tokenizer("qwen");
        Path lines = new Folder(folder).file("""
                {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello 😀"}]}
                {"messages": [{"role": "system", "content": "S", "name": "n"}, {"role": "user", "content": "Hi"}, \
                {"role": "assistant", "content": "Hello 😀"}]}
                """);
        try (PackedRows rows = Folder.open(file("messages"), qwen, SETTINGS);
                PackedRows same = Folder.open(lines, qwen, SETTINGS)) {
            assertEquals(same.figures(), rows.figures());
            for (int row = 0; row < 2; row++) {
                assertEquals(text(qwen, same, row, 64), text(qwen, rows, row, 64));
                assertEquals(7, rows.countedTargets(row));
            }
        }
    }

    /**
     * A list of messages from PyArrow with name and tool_calls None throughout; and one in which such fields, and the column
     * tools, are typed as lists, structs, numbers and times.
     */
    @ParameterizedTest
    @ValueSource(strings = {"nulls", "nulls-of-types"})
    void shouldPassOverFieldsThatAreNullEverywhere(String name) {
        Tokenizer qwen = Folder.tokenizer("qwen");
        Path lines = new Folder(folder).file("""
                {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
                """);
        try (PackedRows rows = Folder.open(file(name), qwen, SETTINGS);
                PackedRows same = Folder.open(lines, qwen, SETTINGS)) {
            assertEquals(same.figures(), rows.figures());
            assertEquals(text(qwen, same, 0, 64), text(qwen, rows, 0, 64));
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '!', ignoreLeadingAndTrailingWhitespace = false, value = {
            "both! must have a column text or a column messages, but has both among text, messages",
            "neither! must have a column text or a column messages, but has neither among prompt, label",
            "number!: the column text must be of strings; write it as such",
            "nested!: the column messages must be of lists of structs, with the strings role and content; write it as such, or as .jsonl",
            "tools!: row 1 has tools, which are read from .jsonl files only; write such a file, or leave the column out",
            "calls!: row 1: tool_calls of a message must be a string, or null in every row; write the file as .jsonl, or leave the field out",
            "no-messages!: row 1 is null in the column messages; leave the row out",
            "null!: row 2 is null in the column text; leave the row out",
            "latin!: row 2 is not UTF-8; convert the file to UTF-8"})
    void shouldRefuseOtherColumns(String name, String said) {
        assertEquals("FILE" + said, refusal(file(name)));
    }

    @ParameterizedTest
    @CsvSource({"text, 4, 2", "messages, 20, 0"})
    void shouldRefuseARowThatNoHeapHolds(String name, int bytes, int before) throws IOException {
        try (ParquetColumns columns = new ParquetColumns(file(name), new StoppableInput(file(name)), bytes,
                Long.MAX_VALUE)) {
            for (int row = 0; row < before; row++) {
                columns.next();
                columns.entry(new DocumentOrigin(file(name), 0, row + 1));
            }
            columns.next();
            DataException refused = assertThrows(DataException.class,
                    () -> columns.entry(new DocumentOrigin(file(name), 0, before + 1)));
            assertEquals(file(name) + ": row " + (before + 1) + " has more than " + bytes
                    + " bytes; cut it into several rows", refused.getMessage());
        }
    }

    @Test
    void shouldRefuseOtherFilesThanParquet() throws IOException {
        Path junk = Files.writeString(folder.resolve("junk.parquet"), "text, and no table of columns");
        String said = refusal(junk);
        assertEquals("FILE is no Parquet file that can be read: it does not begin and end as one; write it again, with"
                + " snappy, zstd, gzip or no compression", said);
        byte[] whole = Files.readAllBytes(file("text"));
        for (int length : new int[]{5, whole.length / 2, whole.length - 1}) {
            Path cut = Files.write(folder.resolve("cut.parquet"), Arrays.copyOf(whole, length));
            assertTrue(refusal(cut).startsWith("FILE is no Parquet file that can be read: "), refusal(cut));
        }
        String lz4 = refusal(file("lz4")); // the library of the codec is not on the class path of this module
        assertTrue(lz4.startsWith("FILE is no Parquet file that can be read: its compression is none of those"), lz4);
        assertEquals("FILE is empty; give a file with data in it",
                refusal(Files.createFile(folder.resolve("empty.parquet"))));
    }

    /** A byte of a page's header makes its length negative, which the library tries to read for ever. */
    @Test
    void shouldGiveUpAFileThatGivesNoRow() throws IOException, InterruptedException {
        byte[] damaged = Files.readAllBytes(file("text"));
        damaged[146] ^= 0x5A;
        Path file = Files.write(folder.resolve("damaged.parquet"), damaged);
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                System.getProperty("java.class.path"), ParquetDocumentsTest.class.getName(), file.toString())
                .redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor());
        assertTrue(said.contains(file + " is no Parquet file that can be read: it yields no row for 500 ms; write the"
                + " file again"), said);
        assertTrue(said.endsWith("the library reads: false\n"), said);
    }

    /** In a process of its own, which would end the library's endless work with it. */
    public static void main(String[] arguments) {
        try {
            new ParquetDocuments(Path.of(arguments[0]), 0, Duration.ofMillis(500)).close();
        } catch (DataException refused) {
            System.out.println(refused.getMessage());
        }
        for (int look = 0; look < 3000 && isReading(); look++) {
            LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
        }
        System.out.println("the library reads: " + isReading());
        System.exit(0);
    }

    private static boolean isReading() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("parquet-reader"));
    }

    private static Path file(String name) {
        return Folder.resource("/rows/" + name + ".parquet");
    }

    private static String refusal(Path file) {
        return Folder.refusal(file, Tokenizer.named("bytes"), SETTINGS);
    }

    private static String text(Tokenizer tokenizer, PackedRows rows, int row, int length) {
        int[] inputs = new int[rows.sequenceLength()];
        rows.fill(row, inputs, new int[inputs.length], new int[inputs.length], 0);
        return tokenizer.decode(Arrays.copyOf(inputs, length));
    }
}
