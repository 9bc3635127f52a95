package dev.troupe.bench.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.tokenizer.Tokenizer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PublishedGpt2Test {
    private static final String[] PARTS = {"the ", "People", "It's", " don't", "  ", "\n", "\n\n", "\t", "12", "34567",
            "é",
            "naïve", "漢字", "🎭", ".", "--", "...", "\u00a0", "\u3000", "_", " antidisestablishmentarianism", "{}",
            "();", "//",
            "<b>", "http", "Привет", " مرحبا", "\u0301", "' ", "aaaaaaaa", "q", "zzz"};

    /** The encoding of 50,256 tokens, with all its merges, has the result of jtokkit's, which has the tokens alone. */
    @Test
    void shouldMakeTheIdsOfJtokkit(@TempDir Path directory) throws IOException {
        PublishedGpt2.write(directory);
        Tokenizer read = Tokenizer.named(directory.toString());
        Tokenizer known = Tokenizer.named("gpt2");
        assertEquals(50256, read.vocabularySize());
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        StringBuilder text = new StringBuilder();
        while (text.length() < 1 << 19) {
            text.append(PARTS[random.nextInt(PARTS.length)]);
        }
        int[] ids = known.encode(text.toString());
        assertArrayEquals(ids, read.encode(text.toString()), "seed " + seed);
        assertEquals(text.toString(), read.decode(ids));
    }
}
