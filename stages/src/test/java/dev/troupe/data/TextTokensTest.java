package dev.troupe.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class TextTokensTest {
    private static final Gpt2Tokenizer GPT2 = new Gpt2Tokenizer();
    private static final String[] PARTS = {"the", "It's", " ", "  ", "\n", "\n\n", "\r\n", "\t", "12", "é", "漢字", "🎭",
            ".",
            "--", "\u00a0", "\u2003", "\u3000", "don't", "_", "x", "      ", " \n \n"};

    @Test
    void shouldGiveTheTokensOfTheWholeTextPieceByPiece() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 300; round++) {
            StringBuilder text = new StringBuilder();
            for (int part = random.nextInt(1, 120); part > 0; part--) {
                text.append(PARTS[random.nextInt(PARTS.length)]);
            }
            TextTokens.Sizes sizes = new TextTokens.Sizes(random.nextInt(4, 20), random.nextInt(1, 40),
                    Integer.MAX_VALUE);
            assertArrayEquals(GPT2.encode(text.toString()), encode(text.toString(), sizes),
                    () -> "seed " + seed + ", " + sizes + ", text: " + text);
        }
    }

    @Test
    void shouldCutTextThatHasNoWordsAndLoseNothing() {
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

    private static int[] encode(String text, TextTokens.Sizes sizes) {
        MemorySegment utf8 = MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
        Tokens tokens = TextTokens.encode("text", utf8, GPT2, sizes);
        int[] ids = new int[(int) tokens.length()];
        tokens.copy(0, ids, 0, ids.length);
        return ids;
    }
}
