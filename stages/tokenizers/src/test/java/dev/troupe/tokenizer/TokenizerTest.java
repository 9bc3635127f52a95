package dev.troupe.tokenizer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.tokenizer.file.TokenizerException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("plan")
class TokenizerTest {
    private static final String MIXED = "First Citizen:\r\nIt's 12345  naïve\t\tΣ 漢字 🎭<|endoftext|>\n\n\n  end ";

    @ParameterizedTest
    @ValueSource(strings = {"bytes", "gpt2"})
    void shouldGiveBackAnyText(String name) {
        Tokenizer tokenizer = Tokenizer.named(name);
        assertEquals(name, tokenizer.name());
        assertEquals(MIXED, tokenizer.decode(tokenizer.encode(MIXED)));
        assertEquals("", tokenizer.decode(tokenizer.encode("")));
        for (int id : tokenizer.encode(MIXED)) {
            assertEquals(id, Math.clamp(id, 0, tokenizer.vocabularySize() - 1));
        }
    }

    @Test
    void shouldGiveThePublishedIdsOfGpt2() {
        Tokenizer gpt2 = Tokenizer.named("gpt2");
        assertEquals(50257, gpt2.vocabularySize());
        assertArrayEquals(new int[]{15496, 11, 995, 0}, gpt2.encode("Hello, world!"));
        assertArrayEquals(new int[]{628}, gpt2.encode("\n\n"));
        assertArrayEquals(new int[]{64, 198, 198, 65}, gpt2.encode("a\n\nb"));
        assertEquals("<|endoftext|>", gpt2.decode(new int[]{50256}));
    }

    @Test
    void shouldTakeEveryUtf8ByteForAToken() {
        Tokenizer bytes = Tokenizer.named("bytes");
        assertEquals(256, bytes.vocabularySize());
        assertArrayEquals(new int[]{'a', 0xC3, 0xA9}, bytes.encode("aé"));
    }

    @Test
    void shouldShowInvalidBytesAsAReplacement() {
        assertEquals("a\uFFFDb\uFFFD", Tokenizer.named("bytes").decode(new int[]{'a', 300, 'b', 0xC3}));
        Tokenizer gpt2 = Tokenizer.named("gpt2");
        int[] theatre = gpt2.encode("🎭");
        assertEquals("Hello\uFFFD,\uFFFD", gpt2.decode(new int[]{15496, 60000, 11, theatre[0]}));
        assertEquals("\uFFFD", gpt2.decode(new int[]{-1}));
    }

    @Test
    void shouldRefuseAnotherName() {
        assertEquals("the tokenizer must be bytes, gpt2 or a directory with a tokenizer.json, but found \"words\"",
                assertThrows(TokenizerException.class, () -> Tokenizer.named("words")).getMessage());
    }
}
