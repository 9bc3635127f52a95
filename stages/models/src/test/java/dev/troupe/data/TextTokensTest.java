package dev.troupe.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.tokenizer.Gpt2Tokenizer;
import dev.troupe.tokenizer.Tokenizer;
import dev.troupe.tokenizer.file.TokenizerException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("plan")
class TextTokensTest {
    private static final Gpt2Tokenizer GPT2 = new Gpt2Tokenizer();
    private static final String[] PARTS = {"the", "It's", " ", "  ", "\n", "\n\n", "\r\n", "\t", "12", "é", "漢字", "🎭",
            ".",
            "--", "\u00a0", "\u2003", "\u3000", "don't", "_", "x", "      ", " \n \n", "。", "«", "e\u0301", "\u0085",
            "\u200b", "'", "'s", "\u00ad"};

    private static Stream<Tokenizer> tokenizers() {
        return Stream.concat(Stream.of(GPT2), Stream.of("gpt2", "llama3", "qwen", "smollm").map(form -> {
            try {
                return Tokenizer.named(
                        Path.of(TextTokensTest.class.getResource("/tokenizers/" + form).toURI()).toString());
            } catch (URISyntaxException impossible) {
                throw new IllegalStateException(impossible);
            }
        }));
    }

    @ParameterizedTest
    @MethodSource("tokenizers")
    void shouldGiveTheTokensOfTheWholeTextPieceByPiece(Tokenizer tokenizer) {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 300; round++) {
            StringBuilder text = new StringBuilder();
            for (int part = random.nextInt(1, 120); part > 0; part--) {
                text.append(PARTS[random.nextInt(PARTS.length)]);
            }
            TextTokens.Sizes sizes = new TextTokens.Sizes(random.nextInt(4, 20), random.nextInt(1, 40),
                    Integer.MAX_VALUE);
            assertArrayEquals(tokenizer.encode(text.toString()), encode(tokenizer, text.toString(), sizes),
                    () -> "seed " + seed + ", " + sizes + ", text: " + text);
        }
    }

    @Test
    void shouldCutTextWithoutWordsAndLoseNothing() {
        String text = "🎭".repeat(500);
        int[] ids = encode(text, new TextTokens.Sizes(7, 16, 33));
        assertEquals(text, GPT2.decode(ids));
        assertArrayEquals(ids, encode(text, new TextTokens.Sizes(7, 16, 33)));
    }

    @Test
    void shouldKeepMoreIdsThanTheFirstMemoryHolds() {
        String text = "a b c d e f g h\n".repeat(10_000);
        int[] ids = encode(text, new TextTokens.Sizes(1 << 12, 1 << 12, 1 << 20));
        assertArrayEquals(GPT2.encode(text), ids);
    }

    @Test
    void shouldReportTheRefusalOfATokenizer(@TempDir Path directory) throws IOException, URISyntaxException {
        Path published = Path.of(TextTokensTest.class.getResource("/tokenizers/gpt2/tokenizer.json").toURI());
        ObjectNode file = (ObjectNode) new JsonMapper().readTree(published.toFile());
        file.set("pre_tokenizer", new JsonMapper().readTree(
                """
                        {"type": "Sequence", "pretokenizers": [
                        {"type": "Split", "pattern": {"Regex": "a*a*a*a*a*a*b"}, "behavior": "Isolated"}, {"type": "ByteLevel"}]}"""));
        new JsonMapper().writeValue(directory.resolve("tokenizer.json").toFile(), file);
        Tokenizer tokenizer = Tokenizer.named(directory.toString());
        String text = "a".repeat(20_000);
        TextTokens.Sizes sizes = new TextTokens.Sizes(1 << 12, 1 << 12, 1 << 20);
        String refusal = assertThrows(TokenizerException.class, () -> encode(tokenizer, text, sizes)).getMessage();
        assertTrue(refusal.contains("is too slow to be used"), refusal);
    }

    /** Blocks that are checked in parallel must find the byte that a reader from the beginning finds first. */
    @Test
    void shouldFindTheFirstByteThatIsNotUtf8InBlocksOfAnySize() {
        byte[] good = "aé漢🎭b\n".repeat(9).getBytes(StandardCharsets.UTF_8);
        for (int blockBytes = 4; blockBytes < 40; blockBytes++) {
            TextTokens.requireUtf8("text", MemorySegment.ofArray(good), blockBytes);
            for (int at = 0; at < good.length; at++) {
                byte[] wrong = good.clone();
                wrong[at] = (byte) 0xFF;
                assertEquals(refusal(wrong, 1 << 20), refusal(wrong, blockBytes), "byte " + at);
            }
        }
    }

    private static String refusal(byte[] utf8, int blockBytes) {
        return assertThrows(DataException.class,
                () -> TextTokens.requireUtf8("text", MemorySegment.ofArray(utf8), blockBytes)).getMessage();
    }

    private static int[] encode(String text, TextTokens.Sizes sizes) {
        return encode(GPT2, text, sizes);
    }

    private static int[] encode(Tokenizer tokenizer, String text, TextTokens.Sizes sizes) {
        MemorySegment utf8 = MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
        IdBuffer buffer = new IdBuffer();
        try {
            TextTokens.encode("text", utf8, tokenizer, buffer, sizes);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        Tokens tokens = new Tokens("text", buffer.segment(), Integer.BYTES);
        int[] ids = new int[(int) tokens.length()];
        tokens.copy(0, ids, 0, ids.length);
        return ids;
    }
}
