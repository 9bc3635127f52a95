package dev.troupe.tokenizer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.tokenizer.file.TokenizerException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files made to keep their reader busy, which end with a sentence within a short time. */
@Tag("plan")
class HostileTokenizerTest {
    private static final JsonMapper JSON = new JsonMapper();
    /** Each takes a second at most on an idle machine. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String BYTES = "{\"type\": \"ByteLevel\"}";

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"a*a*a*a*a*a*a*a*a*a*a*a*b|c",
            "(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)"
                    + "(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)(?:a|a)b",
            "a*b", "a{0,999999}b", "[ab]+c", "(?=a*a*a*b)a", "(?!a*a*a*b)b", "a+(?:a+)?(?:a+)?(?:a+)?(?:a+)?b"})
    void shouldRefuseAnExpressionThatTriesTheSameCharactersAgainAndAgain(String expression) throws IOException {
        Path file = file("pre_tokenizer", sequence(split(expression)));
        Tokenizer tokenizer = Tokenizer.named(directory.toString());
        String refusal = refusal(() -> tokenizer.encode("a".repeat(100_000)));
        assertTrue(refusal.startsWith(file + ": pre_tokenizer.pretokenizers[0].pattern is too slow to be used: "),
                refusal);
        assertTrue(refusal.contains(expression.substring(0, Math.min(expression.length(), 40))), refusal);
    }

    @Test
    void shouldRefuseAnExpressionThatIsSlowInManyShortTexts() throws IOException {
        file("pre_tokenizer", sequence(split("a*a*a*a*a*b")));
        Tokenizer tokenizer = Tokenizer.named(directory.toString());
        refusal(() -> {
            for (int row = 0; row < 1_000_000; row++) {
                tokenizer.encode("a".repeat(60));
            }
        });
    }

    @Test
    void shouldReadLongRunsWithPublishedExpressionsAndMerges() throws IOException {
        write(JSON.readTree(Forms.directory("gpt2").resolve("tokenizer.json").toFile()), "pre_tokenizer", BYTES);
        Tokenizer tokenizer = Tokenizer.named(directory.toString());
        for (String run : new String[]{" ", "a", "9", "!", "\n", " \n", "a1", "\u00e9", "'s"}) {
            String text = run.repeat(300_000 / run.length());
            assertTimeoutPreemptively(PATIENCE,
                    () -> assertEquals(text, tokenizer.decode(tokenizer.encode(" " + text)).substring(1)));
        }
    }

    @Test
    void shouldRefuseGroupsInsideEachOther() throws IOException {
        for (int depth : new int[]{33, 500, 1_000}) {
            file("pre_tokenizer", sequence(split("(".repeat(depth) + "a" + ")".repeat(depth))));
            assertTrue(refusal().contains("more than 32 groups inside each other"), refusal());
        }
        file("pre_tokenizer", sequence(split("(".repeat(20_000) + "a" + ")".repeat(20_000))));
        assertTrue(refusal().contains("pre_tokenizer has expressions of 40001 characters in all, more than 2048"),
                refusal());
        file("pre_tokenizer", sequence(split("(".repeat(32) + "a" + ")".repeat(32))));
        Tokenizer.named(directory.toString());
    }

    @Test
    void shouldReadTheLongestExpressionsInTime() throws IOException {
        file("pre_tokenizer", sequence(split("(?i:" + "k".repeat(2_043) + ")")));
        assertTimeoutPreemptively(PATIENCE, () -> Tokenizer.named(directory.toString()).encode("k".repeat(3_000)));
    }

    @Test
    void shouldRefuseListsOfManySteps() throws IOException {
        file("pre_tokenizer", sequence((split("a") + ", ").repeat(16) + split("a")));
        assertTrue(refusal().contains("pre_tokenizer has 18 steps, more than 16"), refusal());
        String many = "{\"type\": \"NFKC\"}, ".repeat(100_000);
        file("normalizer", "{\"type\": \"Sequence\", \"normalizers\": [" + many + "{\"type\": \"NFC\"}]}");
        assertTrue(refusal().contains("normalizer has 100001 steps, more than 16"), refusal());
    }

    @ParameterizedTest
    @ValueSource(strings = {"normalizer normalizers", "pre_tokenizer pretokenizers", "post_processor processors",
            "decoder decoders"})
    void shouldRefuseListsInsideEachOther(String part) throws IOException {
        String[] names = part.split(" ");
        String open = "{\"type\": \"Sequence\", \"" + names[1] + "\": [";
        for (int depth : new int[]{450, 100_000}) {
            Path file = Files.writeString(directory.resolve("tokenizer.json"),
                    "{\"" + names[0] + "\": " + open.repeat(depth) + "]}".repeat(depth) + "}");
            String refusal = refusal();
            assertTrue(refusal.startsWith(file + (depth == 450 ? ": " : " is no JSON: ")), refusal);
            assertTrue(refusal.length() < 4_000 + file.toString().length(), refusal.length() + " characters");
        }
    }

    @Test
    void shouldRefuseIdsThatNoTableHolds() throws IOException {
        for (long id : new long[]{1 << 24, 2_147_483_646, 9_000_000_000L}) {
            file("added_tokens", "[{\"content\": \"<x>\", \"id\": " + id + "}]");
            assertTrue(refusal().contains("must be a token's id, a whole number from 0 to 16777215, but found " + id));
            file("post_processor", """
                    {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "x"}}, {"Sequence": {"id": "A"}}],
                     "special_tokens": {"x": {"ids": [%d]}}}""".formatted(id));
            assertTrue(refusal().contains("but found " + id), refusal());
        }
    }

    @Test
    void shouldRefuseMoreSpecialTokensThanATextHas() throws IOException {
        String piece = "{\"SpecialToken\": {\"id\": \"s\", \"type_id\": 0}}, ";
        String ids = "0, ".repeat(20_000) + "0";
        file("post_processor", "{\"type\": \"TemplateProcessing\", \"single\": [" + piece.repeat(20_000)
                + "{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}], \"pair\": [], \"special_tokens\": {\"s\":"
                + " {\"id\": \"s\", \"ids\": [" + ids + "], \"tokens\": [\"s\"]}}}");
        assertTrue(refusal().contains("must have at most 1000 ids of special tokens"), refusal());
    }

    @Test
    void shouldRefuseMoreAddedTokensThanATrieHolds() throws IOException {
        StringBuilder tokens = new StringBuilder();
        for (int i = 0; i < 1_100; i++) {
            tokens.append(i == 0 ? "[" : ",").append("{\"id\": ").append(300 + i).append(", \"content\": \"").append(i)
                    .append("x".repeat(1_000)).append("\"}");
        }
        file("added_tokens", tokens + "]");
        assertTrue(refusal().contains("added_tokens has tokens of more than 1048576 characters in all"), refusal());
    }

    @Test
    void shouldBoundTheSearchForAddedTokens() throws IOException {
        file("added_tokens", "[{\"id\": 300, \"content\": \"" + "a".repeat(100_000) + "b\", \"normalized\": false}]");
        Tokenizer slow = Tokenizer.named(directory.toString());
        assertTrue(refusal(() -> slow.encode("a".repeat(1_000_000))).contains("added_tokens is too slow"));
        file("added_tokens", "[{\"id\": 300, \"content\": \" \", \"lstrip\": true, \"single_word\": true}]");
        Tokenizer strips = Tokenizer.named(directory.toString());
        assertTimeoutPreemptively(PATIENCE,
                () -> assertEquals(1_000_000, strips.encode(" ".repeat(1_000_000)).length));
        file("added_tokens", "[{\"id\": 300, \"content\": \" \", \"rstrip\": true}]");
        Tokenizer stripsRight = Tokenizer.named(directory.toString());
        assertTrue(refusal(() -> stripsRight.encode(" ".repeat(1_000_000))).contains("added_tokens is too slow"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"NFC", "NFD", "NFKC", "NFKD"})
    void shouldRefuseLongRunsOfMarks(String form) throws IOException {
        file("normalizer", "{\"type\": \"" + form + "\"}");
        Tokenizer tokenizer = Tokenizer.named(directory.toString());
        assertTrue(refusal(() -> tokenizer.encode("a" + "\u0301\u0323".repeat(100_000)))
                .endsWith("normalizer is not applied to a text with more than 1000 combining marks in a row; take that"
                        + " text out"));
        refusal(() -> tokenizer.encode("a" + "\ud834\udd67\u0323".repeat(100_000)));
        String marks = ("a" + "\u0301\u0323".repeat(500)).repeat(100);
        assertTimeoutPreemptively(PATIENCE, () -> tokenizer.encode(marks));
    }

    @Test
    void shouldReadManyListsInTime() throws IOException {
        file("unknown", "[" + "[],".repeat(300_000) + "0]");
        assertTimeoutPreemptively(PATIENCE, () -> Tokenizer.named(directory.toString()));
    }

    @Test
    void shouldRefuseOtherThanRegularFiles() throws IOException, InterruptedException {
        file("unknown", "0");
        Path settings = directory.resolve("tokenizer_config.json");
        assertEquals(0, new ProcessBuilder("mkfifo", settings.toString()).start().waitFor());
        assertEquals("cannot read " + settings + ": it is a device or a pipe; save it as a file", refusal());
        Files.delete(settings);
        Files.createSymbolicLink(settings, Path.of("/dev/zero"));
        assertEquals("cannot read " + settings + ": it is a device or a pipe; save it as a file", refusal());
        Files.delete(settings); // a link: what it names stays
        Files.createDirectory(settings);
        assertEquals("cannot read " + settings + ": it is a directory", refusal());
        Files.delete(settings);
        try (FileChannel huge = FileChannel.open(settings, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            huge.write(ByteBuffer.allocate(1), 20_000_000_000L); // a hole that takes no room
        }
        assertEquals("cannot read " + settings
                + ": it has 20000000001 bytes, and a file of its kind at most 67108864", refusal());
    }

    /** Writes the tokenizer of bytes with another part. */
    private Path file(String part, String value) throws IOException {
        return write(JSON.readTree(ByteTokenizer.files().get("tokenizer.json")), part, value);
    }

    private Path write(JsonNode file, String part, String value) throws IOException {
        ((ObjectNode) file).set(part, JSON.readTree(value));
        return Files.writeString(directory.resolve("tokenizer.json"), JSON.writeValueAsString(file));
    }

    private static String split(String expression) {
        return "{\"type\": \"Split\", \"pattern\": {\"Regex\": \"" + expression + "\"}, \"behavior\": \"Isolated\"}";
    }

    private static String sequence(String steps) {
        return "{\"type\": \"Sequence\", \"pretokenizers\": [" + steps + ", " + BYTES + "]}";
    }

    private String refusal() {
        return refusal(() -> Tokenizer.named(directory.toString()));
    }

    private static String refusal(Runnable work) {
        return assertTimeoutPreemptively(PATIENCE,
                () -> assertThrows(TokenizerException.class, work::run).getMessage());
    }
}
