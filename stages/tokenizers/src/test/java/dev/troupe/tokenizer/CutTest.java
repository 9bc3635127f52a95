package dev.troupe.tokenizer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The places at which a text may be cut, so that its pieces can be encoded in parallel. */
@Tag("plan")
class CutTest {
    private static final JsonMapper JSON = new JsonMapper();

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "llama3", "qwen", "smollm"})
    void shouldMakeTheIdsOfTheWholeTextOfItsHalves(String form) {
        Tokenizer tokenizer = Tokenizer.named(Forms.directory(form).toString());
        long seed = System.nanoTime();
        for (int round = 0; round < 150; round++) {
            String text = MixedText.of(seed + round, 60);
            int[] whole = tokenizer.encode(text);
            for (int cut = 1; cut < text.length(); cut++) {
                if (tokenizer.mayCut(text.charAt(cut - 1), text.charAt(cut))) {
                    String left = text.substring(0, cut);
                    String right = text.substring(cut);
                    assertArrayEquals(whole, IntStream.concat(IntStream.of(tokenizer.encode(left)),
                            IntStream.of(tokenizer.encode(right))).toArray(),
                            () -> "seed " + seed + ": \"" + left + "\" and \"" + right + "\"");
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "llama3", "qwen", "smollm"})
    void shouldCutThePublishedFormsBeforeSpacesAndLines(String form) {
        Tokenizer tokenizer = Tokenizer.named(Forms.directory(form).toString());
        for (char before : "aZ9é漢.!)\"".toCharArray()) {
            assertTrue(tokenizer.mayCut(before, ' '), "" + before);
            assertEquals(Character.isLetterOrDigit(before), tokenizer.mayCut(before, '\n'), "" + before);
        }
        assertFalse(tokenizer.mayCut(' ', ' '));
        assertFalse(tokenizer.mayCut('\n', ' '));
        assertFalse(tokenizer.mayCut('a', 'b'));
    }

    /** Tokens and expressions that reach over white space, or look at it, prevent a cut. */
    @Test
    void shouldNotCutIfATokenOrAnExpressionMayReachOver() throws IOException {
        assertCuts(true, _ -> {
        });
        assertCuts(false, file -> ((ObjectNode) file.at("/added_tokens/0")).put("content", "a b"));
        assertCuts(false, file -> ((ObjectNode) file.at("/added_tokens/0")).put("rstrip", true));
        assertCuts(true, file -> ((ObjectNode) file.at("/added_tokens/0")).put("lstrip", true));
        assertCuts(false, file -> file.set("pre_tokenizer", split("[^.]+")));
        assertCuts(false, file -> file.set("pre_tokenizer", split("\\S+ ?|\\s+")));
        assertCuts(false, file -> file.set("pre_tokenizer", split("\\S+(?=\\s)|\\S|\\s+")));
        assertCuts(false, file -> file.set("pre_tokenizer", split("\\p{N}")));
        assertCuts(true, file -> file.set("pre_tokenizer", split("\\S+|\\s+")));
    }

    private static ObjectNode split(String pattern) {
        ObjectNode sequence = JSON.createObjectNode().put("type", "Sequence");
        ObjectNode split = sequence.putArray("pretokenizers").addObject().put("type", "Split")
                .put("behavior", "Isolated").put("invert", false);
        split.putObject("pattern").put("Regex", pattern);
        ((ArrayNode) sequence.get("pretokenizers")).addObject()
                .put("type", "ByteLevel").put("add_prefix_space", false).put("use_regex", false);
        return sequence;
    }

    private void assertCuts(boolean expected, Consumer<ObjectNode> change) throws IOException {
        ObjectNode file = (ObjectNode) JSON.readTree(Forms.directory("gpt2").resolve("tokenizer.json").toFile());
        change.accept(file);
        Files.writeString(directory.resolve("tokenizer.json"), JSON.writeValueAsString(file));
        assertEquals(expected, Tokenizer.named(directory.toString()).mayCut('a', ' '), file.get("pre_tokenizer") + "");
    }
}
