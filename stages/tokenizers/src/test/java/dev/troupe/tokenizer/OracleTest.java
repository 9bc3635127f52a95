package dev.troupe.tokenizer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The ids of mixed text compared with Hugging Face's own library. */
@Tag("parity")
class OracleTest {
    private static final int CHARACTERS = 1 << 18;
    /** Builds with other numbers compare other texts. */
    private static final long DEALER = Long.getLong("troupe.sweep.seed", 0);
    private static final Path SHAKESPEARE = Path
            .of("../../runtime/core/src/main/resources/dev/troupe/plan/prepare/built-in-corpus.txt");

    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "llama3", "qwen", "smollm"})
    void shouldMakeTheIdsOfHuggingFace(String form) throws IOException {
        long seed = form.hashCode() + DEALER;
        check(form, MixedText.of(seed, CHARACTERS), "mixed text of seed " + seed);
        String plays = Files.readString(SHAKESPEARE);
        int from = Math.floorMod(DEALER * CHARACTERS, plays.length() - CHARACTERS);
        check(form, plays.substring(from, from + CHARACTERS), "Shakespeare from " + from);
    }

    /** The files of {@code bytes} are read as the same tokenizer, here and by Hugging Face. */
    @Test
    void shouldMakeABytesTokenizerOfFiles(@TempDir Path directory) throws IOException {
        for (Map.Entry<String, String> file : ByteTokenizer.files().entrySet()) {
            Files.writeString(directory.resolve(file.getKey()), file.getValue());
        }
        String text = MixedText.of(1, CHARACTERS / 16);
        int[] expected = new ByteTokenizer().encode(text);
        Tokenizer read = Tokenizer.named(directory.toString());
        assertArrayEquals(expected, read.encode(text));
        assertEquals(text, read.decode(expected));
        assertEquals(256, read.vocabularySize());
        try (Oracle oracle = Oracle.open(directory)) {
            assertArrayEquals(expected, oracle.encode(text));
            assertEquals(text, oracle.decode(expected));
        }
    }

    private static void check(String form, String text, String name) throws IOException {
        Tokenizer tokenizer = Tokenizer.named(Forms.directory(form).toString());
        try (Oracle oracle = Oracle.open(Forms.directory(form))) {
            int[] expected = oracle.encode(text);
            int[] found = tokenizer.encode(text);
            int same = Arrays.mismatch(expected, found);
            assertEquals(-1, same, () -> name + ": from id " + same + " on "
                    + part(tokenizer, expected, same) + " and " + part(tokenizer, found, same));
        }
    }

    private static String part(Tokenizer tokenizer, int[] ids, int from) {
        int[] some = Arrays.copyOfRange(ids, Math.max(0, from - 3), Math.min(ids.length, from + 8));
        return Arrays.toString(some) + " \"" + tokenizer.decode(some) + "\"";
    }
}
