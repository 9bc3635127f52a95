package dev.troupe.rows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.tokenizer.Tokenizer;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Messages about lines that hold no document, each with file and line. */
@Tag("plan")
class JsonLineTest {
    private static final String GOOD = "{\"text\": \"good\"}\n";
    private static final RowSettings SETTINGS = new RowSettings(8, true, false);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource(delimiter = '!', quoteCharacter = '`', value = {
            "nonsense!is no JSON: column 1: \"nonsense\" is no value",
            "{\"text\": \"a!is no JSON: column 12: the text ends too early; write each document on a line of its own",
            "{!is no JSON: column 2: the text ends too early; write each document on a line of its own",
            "{\"text\": \"a\"} [!must be one JSON object, but has a list after it",
            "[1]!must be a JSON object with \"documents\", \"text\" or \"messages\", but found a list; write each document on a line of its own",
            "{\"text\": \"a\", \"deep\": DEEP!is no JSON: column 1: more than 1000 levels of nesting",
            "{\"text\": \"a\", /* no */ \"b\": 1}!is no JSON: column 15: the character / is not allowed here",
            "{\"text\": +1}!is no JSON: column 11: the character + is not allowed here",
            "{\"text\": \"a\"\ufeff}!is no JSON: column 13: a byte order mark (U+FEFF), which is invisible: remove it",
            "{\"prompt\": \"a\"}!must be a JSON object with \"documents\", \"text\" or \"messages\", but has \"prompt\"",
            "{}!must be a JSON object with \"documents\", \"text\" or \"messages\", but has none of them",
            "{\"text\": null, \"b\": 1, \"c\": 1, \"d\": 1, \"e\": 1, \"f\": 1}!must be a JSON object with \"documents\", \"text\" or \"messages\", but has \"text\": null, \"b\", \"c\", \"d\", \"e\", ...",
            "{\"text\": \"a\", \"messages\": []}!must have one of \"documents\", \"text\" or \"messages\", but has \"text\" and \"messages\"; leave one out",
            "{\"text\": \"\"}!is an empty document; leave it out",
            "{\"text\": \"\\ud83d\"}!has half a character, \\ud83d, in its text; write the text again"})
    void shouldRefuseALineOfAnotherShape(String line, String said) {
        assertEquals("FILE: line 3 " + said,
                refusal(GOOD + "\n" + line.replace("DEEP", "[".repeat(2000)) + "\n" + GOOD));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '!', quoteCharacter = '`', value = {
            "3!documents must be a list, but found 3",
            "[]!documents must have at least one document, but is empty",
            "[3]!documents[0] must be an object with ids and counted, but found 3",
            "[{\"ids\": [1]}]!documents[0] must have ids and counted, but has no counted",
            "[{\"counted\": [1]}]!documents[0] must have ids and counted, but has no ids",
            "[{\"ids\": 1, \"counted\": [1]}]!documents[0].ids must be a list, but found 1",
            "[{\"ids\": [], \"counted\": []}]!documents[0].ids must have at least one id, but is empty",
            "[{\"ids\": [1, 2], \"counted\": [1]}]!documents[0].counted must have a value for each of 2 ids, but has 1",
            "[{\"ids\": [1], \"counted\": [2]}]!documents[0].counted[0] must be 0 or 1, but found 2",
            "[{\"ids\": [1, -1], \"counted\": [1, 1]}]!documents[0].ids[1] must be a token's id, a whole number from 0 to 1073741823, but found -1",
            "[{\"ids\": [1.5], \"counted\": [1]}]!documents[0].ids[0] must be a token's id, a whole number from 0 to 1073741823, but found 1.5",
            "[{\"ids\": [\"a\"], \"counted\": [1]}]!documents[0].ids[0] must be a token's id, a whole number from 0 to 1073741823, but found \"a\"",
            "[{\"ids\": [1073741824], \"counted\": [1]}]!documents[0].ids[0] must be a token's id, a whole number from 0 to 1073741823, but found 1073741824",
            "[{\"ids\": [99999999999], \"counted\": [1]}]!documents[0].ids[0] must be a token's id, a whole number from 0 to 1073741823, but found 99999999999"})
    void shouldRefuseDocumentsOfAnotherShape(String documents, String said) {
        assertEquals("FILE: line 2: " + said, refusal(GOOD + "{\"documents\": " + documents + "}"));
    }

    /** As Python reads them: a mark at the beginning, and numbers that are not used. */
    @Test
    void shouldReadAMarkAndNumbersThatOnlyPythonKnows() {
        Path file = new Folder(folder)
                .file("\uFEFF{\"text\": \"abc\", \"score\": NaN, \"more\": [Infinity, -Infinity]}\n");
        try (PackedRows rows = Folder.open(file, Tokenizer.named("bytes"), SETTINGS)) {
            int[] inputs = new int[rows.sequenceLength()];
            rows.fill(0, inputs, new int[inputs.length], new int[inputs.length], 0);
            assertArrayEquals(new int[]{'a', 'b', 'c'}, Arrays.copyOf(inputs, 3));
        }
        assertEquals("FILE is empty; give a file with data in it", refusal("\uFEFF"));
    }

    @Test
    void shouldRefuseARowOfSeveralDocumentsAtItsLineIfTheModelCannotSeparateThem() {
        String one = "{\"documents\": [{\"ids\": [1, 2], \"counted\": [1, 1]}]}\n";
        Path file = new Folder(folder).file(one + one.replace("]}]}", "]}, {\"ids\": [1, 2], \"counted\": [1, 1]}]}"));
        assertEquals("FILE: line 2 is a row of 2 documents, which a model with a table of positions, such as GPT-2,"
                + " cannot separate; write one document a line, or take another model",
                Folder.refusal(file, Tokenizer.named("bytes"), new RowSettings(8, false, false, false)));
        try (PackedRows rows = Folder.open(file, Tokenizer.named("bytes"), new RowSettings(8, false, true, false))) {
            assertEquals(2, rows.rowCount());
        }
    }

    @Test
    void shouldRefuseTextThatIsNoString() {
        assertEquals("FILE: line 1: text must be a string, but found 3", refusal("{\"text\": 3}"));
    }

    @Test
    void shouldRefuseBytesThatAreNoText() throws IOException {
        Path file = Files.write(folder.resolve("latin.jsonl"),
                new byte[]{'{', '"', 't', 'e', 'x', 't', '"', ':', '"', (byte) 0xE9, '"', '}'});
        assertEquals("FILE: line 1 is not UTF-8; convert the file to UTF-8", refusal(file));
    }

    @Test
    void shouldRefuseALineThatIsTooLong() throws IOException {
        Path file = new Folder(folder).file(GOOD);
        try (RandomAccessFile longer = new RandomAccessFile(file.toFile(), "rw")) {
            longer.setLength(GOOD.length() + LineReader.LONGEST_BYTES + 1L); // a hole, which takes no room
        }
        assertEquals("FILE: line 2 is longer than 64 MiB; write each document on a line of its own", refusal(file));
    }

    @Test
    void shouldRefuseAFileWithoutDocuments() throws IOException {
        assertEquals("FILE is empty; give a file with data in it", refusal(""));
        assertEquals("FILE has no document; leave the file out", refusal("\n  \r\n"));
        Path absent = folder.resolve("absent.jsonl");
        assertEquals("cannot read FILE: there is no such file", refusal(absent));
        Path directory = Files.createDirectory(folder.resolve("d.jsonl"));
        assertTrue(refusal(directory).startsWith("FILE"), refusal(directory));
    }

    private String refusal(String lines) {
        return refusal(new Folder(folder).file(lines));
    }

    private static String refusal(Path file) {
        return Folder.refusal(file, Tokenizer.named("bytes"), SETTINGS);
    }
}
