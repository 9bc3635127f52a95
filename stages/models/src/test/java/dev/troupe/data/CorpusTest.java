package dev.troupe.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.tokenizer.Tokenizer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("plan")
class CorpusTest {
    private static final Tokenizer BYTES = Tokenizer.named("bytes");

    @TempDir
    private Path directory;

    @Test
    void shouldReadLittleEndianTokens() throws IOException {
        Path file = Files.write(directory.resolve("tokens.bin"), new byte[]{1, 0, 2, 1, (byte) 0xFF, (byte) 0xFF});
        try (Corpus corpus = Corpus.open(file, BYTES)) {
            assertArrayEquals(new int[]{1, 258, 65535}, all(corpus.tokens()));
            assertEquals(258, corpus.tokens().at(1));
            corpus.tokens().requireVocabulary(65536);
        }
    }

    @Test
    void shouldReadTheBytesOfAText() throws IOException {
        Path file = Files.writeString(directory.resolve("text.md"), "aé\n");
        try (Corpus corpus = Corpus.open(file, BYTES)) {
            assertArrayEquals(new int[]{'a', 0xC3, 0xA9, '\n'}, all(corpus.tokens()));
        }
    }

    @Test
    void shouldLeaveOutTheByteOrderMarkOfAText() throws IOException {
        byte[] marked = "\uFEFFHello, \uFEFFworld!".getBytes(StandardCharsets.UTF_8);
        byte[] plain = "Hello, \uFEFFworld!".getBytes(StandardCharsets.UTF_8);
        Path file = Files.write(directory.resolve("marked.txt"), marked);
        Path other = Files.write(directory.resolve("plain.txt"), plain);
        for (Tokenizer tokenizer : List.of(BYTES, Tokenizer.named("gpt2"))) {
            try (Corpus read = Corpus.open(file, tokenizer);
                    Corpus inMemory = Corpus.ofText("memory", marked, tokenizer);
                    Corpus expected = Corpus.open(other, tokenizer)) {
                assertArrayEquals(all(expected.tokens()), all(read.tokens()));
                assertArrayEquals(all(expected.tokens()), all(inMemory.tokens()));
            }
        }
        Path nothing = Files.writeString(directory.resolve("mark.txt"), "\uFEFF");
        assertEquals(nothing + " is empty; give a file with data in it",
                assertThrows(DataException.class, () -> Corpus.open(nothing, BYTES)).getMessage());
    }

    @Test
    void shouldTokenizeAText() throws IOException {
        Path file = Files.writeString(directory.resolve("text.txt"), "Hello, world!");
        try (Corpus corpus = Corpus.open(file, Tokenizer.named("gpt2"))) {
            assertArrayEquals(new int[]{15496, 11, 995, 0}, all(corpus.tokens()));
        }
        byte[] inMemory = "Hello, world!".getBytes(StandardCharsets.UTF_8);
        try (Corpus corpus = Corpus.ofText("built-in", inMemory, Tokenizer.named("gpt2"))) {
            assertArrayEquals(new int[]{15496, 11, 995, 0}, all(corpus.tokens()));
        }
    }

    @Test
    void shouldRefuseAPathThatIsNoFile() {
        Path missing = directory.resolve("missing.txt");
        assertEquals("cannot read " + missing + ": there is no such file", refusal(missing));
        assertEquals(directory + " must be a file of data, but is a directory; name a file inside it",
                refusal(directory));
        assertEquals("/dev/null must be a file of data, but is a device or a pipe; save it as a file",
                refusal(Path.of("/dev/null")));
    }

    @Test
    void shouldRefuseNothing() throws IOException {
        for (String name : new String[]{"empty.txt", "empty.bin"}) {
            Path file = Files.createFile(directory.resolve(name));
            assertEquals(file + " is empty; give a file with data in it", refusal(file));
        }
        assertEquals("built-in is empty; give a file with data in it",
                assertThrows(DataException.class, () -> Corpus.ofText("built-in", new byte[0], BYTES)).getMessage());
    }

    @Test
    void shouldRefuseHalfAToken() throws IOException {
        Path file = Files.write(directory.resolve("odd.bin"), new byte[3]);
        assertEquals(
                file + " must hold little-endian uint16 tokens, two bytes each, but has 3 bytes; write it again, or"
                        + " rename it if it is text",
                refusal(file));
    }

    @Test
    void shouldJoinTextAsOneFileOfBytes() throws IOException {
        Files.writeString(directory.resolve("b.txt"), "é b");
        Files.writeString(directory.resolve("a.txt"), "a\n");
        try (Corpus corpus = Corpus.open(CorpusFiles.find(List.of(directory)), BYTES, TokenCache.none(), 0)) {
            assertArrayEquals(new int[]{'a', '\n', 0xC3, 0xA9, ' ', 'b'}, all(corpus.tokens()));
            // Beginning and end in any place, also over the seam.
            for (int from = 0; from < 6; from++) {
                for (int count = 0; count <= 6 - from; count++) {
                    int[] some = new int[count];
                    corpus.tokens().copy(from, some, 0, count);
                    assertArrayEquals(Arrays.copyOfRange(all(corpus.tokens()), from, from + count), some);
                }
                assertEquals(all(corpus.tokens())[from], corpus.tokens().at(from));
            }
        }
    }

    @Test
    void shouldPutTheEndOfTextBetweenDocuments() throws IOException {
        Files.writeString(directory.resolve("1.txt"), "Hello");
        Files.writeString(directory.resolve("2.txt"), ", world!");
        try (Corpus corpus = Corpus.open(CorpusFiles.find(List.of(directory)), Tokenizer.named("gpt2"),
                TokenCache.none(), 0)) {
            assertArrayEquals(new int[]{15496, 50256, 11, 995, 0}, all(corpus.tokens()));
        }
    }

    @Test
    void shouldJoinTokenFilesAsTheyAre() throws IOException {
        Path first = Files.write(directory.resolve("x.bin"), new byte[]{1, 0, 2, 0});
        Path second = Files.write(directory.resolve("a.bin"), new byte[]{3, 0});
        CorpusFiles files = CorpusFiles.find(List.of(first, second));
        try (Corpus corpus = Corpus.open(files, BYTES, TokenCache.none(), 0)) {
            assertArrayEquals(new int[]{1, 2, 3}, all(corpus.tokens()));
            assertEquals(second + ": token 0 is 3, but the model's vocabulary has 3 tokens, 0 to 2; set"
                    + " model.vocabulary-size to 4 or more, or use another file or tokenizer",
                    assertThrows(DataException.class, () -> corpus.tokens().requireVocabulary(3)).getMessage());
        }
    }

    @Test
    void shouldReadTheTokensAfterTheHeaderOfLlmC() throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(1024 + 6).order(ByteOrder.LITTLE_ENDIAN).putInt(20240520).putInt(1)
                .putInt(3).position(1024).putShort((short) 7).putShort((short) 50256).putShort((short) 9);
        Path file = Files.write(directory.resolve("llm.bin"), bytes.array());
        try (Corpus corpus = Corpus.open(file, BYTES)) {
            assertArrayEquals(new int[]{7, 50256, 9}, all(corpus.tokens()));
        }
        Files.write(file, bytes.putInt(8, 4).array());
        assertEquals(file + " has the header of llm.c, which promises 4 tokens, but 3 come after it; write it again",
                refusal(file));
        // Without the version it is tokens that happen to begin so.
        Files.write(file, bytes.putInt(4, 2).array());
        try (Corpus corpus = Corpus.open(file, BYTES)) {
            assertEquals(515, corpus.tokens().length());
        }
    }

    /** llm.c's header for Llama 3: four bytes a token. */
    @Test
    void shouldReadFourByteTokensByHeaderOrKey() throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(1024 + 8).order(ByteOrder.LITTLE_ENDIAN).putInt(20240801).putInt(7)
                .putInt(2).position(1024).putInt(70_000).putInt(-2);
        Path file = Files.write(directory.resolve("llama.bin"), bytes.array());
        CorpusFiles files = CorpusFiles.find(List.of(file));
        for (int tokenBytes : new int[]{0, 4}) {
            try (Corpus corpus = Corpus.open(files, BYTES, TokenCache.none(), tokenBytes)) {
                assertEquals(70_000, corpus.tokens().at(0));
                assertEquals(
                        file + ": token 1 is 4294967294, but the model's vocabulary has 70001 tokens, 0 to 70000; set"
                                + " model.vocabulary-size to 4294967295 or more, or use another file or tokenizer",
                        assertThrows(DataException.class, () -> corpus.tokens().requireVocabulary(70_001))
                                .getMessage());
            }
        }
        assertEquals(
                file + " has the header of llm.c for tokens of 4 bytes each, but data.token-bytes = 2; leave that key"
                        + " out",
                refusal(files, 2));
        Path bare = Files.write(directory.resolve("bare.bin"), new byte[]{1, 0, 0, 0, 2, 0, 1, 0});
        CorpusFiles one = CorpusFiles.find(List.of(bare));
        try (Corpus four = Corpus.open(one, BYTES, TokenCache.none(), 4);
                Corpus two = Corpus.open(one, BYTES, TokenCache.none(), 0)) {
            assertArrayEquals(new int[]{1, 65_538}, all(four.tokens()));
            assertArrayEquals(new int[]{1, 0, 2, 1}, all(two.tokens()));
        }
        assertEquals(
                "the files of a corpus must have tokens of one width, but " + bare + " has 2 bytes a token and " + file
                        + " has 4",
                refusal(CorpusFiles.find(List.of(bare, file)), 0));
        Files.write(bare, new byte[6]);
        assertEquals(
                bare + " must hold little-endian uint32 tokens, four bytes each, but has 6 bytes; write it again, or"
                        + " rename it if it is text",
                refusal(one, 4));
    }

    private static String refusal(CorpusFiles files, int tokenBytes) {
        return assertThrows(DataException.class,
                () -> Corpus.open(files, BYTES, TokenCache.none(), tokenBytes).close()).getMessage();
    }

    @Test
    void shouldWriteTokensThatAreTheSameCorpus() throws IOException {
        Path text = Files.writeString(directory.resolve("text.txt"), "To be, or not to be: that's the question.\n");
        for (String name : List.of("bytes", "gpt2")) {
            Tokenizer tokenizer = Tokenizer.named(name);
            Path target = directory.resolve(name + ".bin");
            CorpusFiles files = CorpusFiles.find(List.of(text));
            long count = Corpus.writeTokens(files, tokenizer, target, _ -> {
            });
            try (Corpus written = Corpus.open(target, tokenizer); Corpus made = Corpus.open(text, tokenizer)) {
                assertEquals(count, written.tokens().length());
                assertArrayEquals(all(made.tokens()), all(written.tokens()));
            }
            assertEquals(target + " exists already; delete it, or choose another name",
                    assertThrows(DataException.class, () -> Corpus.writeTokens(files, tokenizer, target, _ -> {
                    }))
                            .getMessage());
        }
        Path tokens = directory.resolve("gpt2.bin");
        assertEquals(tokens + " holds tokens already; name text files",
                assertThrows(DataException.class, () -> Corpus.writeTokens(CorpusFiles.find(List.of(tokens)), BYTES,
                        directory.resolve("more.bin"), _ -> {
                        })).getMessage());
        Path none = directory.resolve("none/there.bin");
        assertEquals("cannot write " + none + ": there is no such file",
                assertThrows(DataException.class, () -> Corpus.writeTokens(CorpusFiles.find(List.of(text)), BYTES,
                        none, _ -> {
                        })).getMessage());
        Path latin = Files.write(directory.resolve("latin"), new byte[]{'a', (byte) 0xE9});
        assertThrows(DataException.class,
                () -> Corpus.writeTokens(CorpusFiles.find(List.of(latin)), BYTES, directory.resolve("latin.bin"), _ -> {
                }));
        try (Stream<Path> left = Files.list(directory)) {
            assertEquals(List.of("bytes.bin", "gpt2.bin", "latin", "text.txt"),
                    left.map(file -> file.getFileName().toString()).sorted().toList());
        }
    }

    @Test
    void shouldNameTheFirstByteThatIsNotUtf8() throws IOException {
        Path file = directory.resolve("latin.txt");
        Files.write(file, "one\ntwo\ncaf\u00e9 \u00e9".getBytes(StandardCharsets.ISO_8859_1));
        String sentence = " must be UTF-8 text, but byte 0xe9 at offset 11 (line 3) is not; convert it to UTF-8";
        assertEquals(file + sentence, refusal(file));
        assertEquals(file + sentence, assertThrows(DataException.class,
                () -> Corpus.open(file, Tokenizer.named("gpt2"))).getMessage());
        // A character that the end of the file cuts in two.
        Files.write(file, new byte[]{'a', (byte) 0xC3});
        assertEquals(file + " must be UTF-8 text, but byte 0xc3 at offset 1 (line 1) is not; convert it to UTF-8",
                refusal(file));
    }

    @Test
    void shouldNameTheFirstTokenBeyondTheVocabulary() throws IOException {
        Path file = Files.write(directory.resolve("tokens.bin"), new byte[]{1, 0, 64, 0, 70, 0});
        try (Corpus corpus = Corpus.open(file, Tokenizer.named("bytes"))) {
            corpus.tokens().requireVocabulary(71);
            assertEquals(file + ": token 1 is 64, but the model's vocabulary has 64 tokens, 0 to 63; set"
                    + " model.vocabulary-size to 65 or more, or use another file or tokenizer",
                    assertThrows(DataException.class, () -> corpus.tokens().requireVocabulary(64)).getMessage());
        }
        try (Corpus text = Corpus.ofText("text", "zoo".getBytes(StandardCharsets.UTF_8), BYTES)) {
            text.tokens().requireVocabulary('z' + 1);
            assertThrows(DataException.class, () -> text.tokens().requireVocabulary('z'));
        }
    }

    private String refusal(Path file) {
        return assertThrows(DataException.class, () -> Corpus.open(file, BYTES).close()).getMessage();
    }

    private static int[] all(Tokens tokens) {
        int[] ids = new int[(int) tokens.length()];
        tokens.copy(0, ids, 0, ids.length);
        return ids;
    }
}
