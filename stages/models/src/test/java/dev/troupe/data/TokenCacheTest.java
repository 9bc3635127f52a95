package dev.troupe.data;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.tokenizer.Tokenizer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("plan")
class TokenCacheTest {
    private static final Tokenizer GPT2 = Tokenizer.named("gpt2");
    private static final int[] HELLO = {15496, 11, 995, 0};

    @TempDir
    private Path home;

    private final List<String> notes = new ArrayList<>();
    private Path text;

    @BeforeEach
    void writeText() throws IOException {
        text = Files.writeString(home.resolve("text.txt"), "Hello, world!");
    }

    @Test
    void shouldTokenizeOnce() throws IOException {
        assertArrayEquals(HELLO, read());
        Path kept = kept().getFirst();
        Object first = Files.readAttributes(kept, "unix:ino").get("ino");
        Files.setLastModifiedTime(kept, FileTime.from(Instant.EPOCH));
        assertArrayEquals(HELLO, read());
        assertEquals(List.of(kept), kept());
        assertEquals(first, Files.readAttributes(kept, "unix:ino").get("ino"));
        assertNotEquals(Instant.EPOCH, Files.getLastModifiedTime(kept).toInstant(), "it counts as never used");
        // The same text under another name is the same text; another text is another.
        text = Files.move(text, home.resolve("moved.txt"));
        assertArrayEquals(HELLO, read());
        assertEquals(1, kept().size());
        Files.writeString(text, "Hello");
        assertArrayEquals(new int[]{15496}, read());
        assertEquals(2, kept().size());
        assertEquals(List.of(), notes);
    }

    @Test
    void shouldKnowDocumentsApart() throws IOException {
        Path folder = Files.createDirectory(home.resolve("documents"));
        Files.writeString(folder.resolve("1"), "Hello, world");
        Files.writeString(folder.resolve("2"), "!");
        text = folder;
        assertArrayEquals(new int[]{15496, 11, 995, 50256, 0}, read());
        Files.writeString(folder.resolve("1"), "Hello,");
        Files.writeString(folder.resolve("2"), " world!");
        assertArrayEquals(new int[]{15496, 11, 50256, 995, 0}, read());
    }

    @Test
    void shouldMakeDamagedTokensAgainAndReportIt() throws IOException {
        read();
        Path kept = kept().getFirst();
        byte[] whole = Files.readAllBytes(kept);
        List<byte[]> damaged = new ArrayList<>(List.of(new byte[0], Arrays.copyOf(whole, whole.length - 2),
                Arrays.copyOf(whole, whole.length + 2), Arrays.copyOf(whole, 64)));
        for (int at : new int[]{0, 8, 16, 64, whole.length - 1}) {
            byte[] flipped = whole.clone();
            flipped[at] ^= 4;
            damaged.add(flipped);
        }
        for (byte[] bytes : damaged) {
            notes.clear();
            Files.write(kept, bytes);
            assertArrayEquals(HELLO, read());
            assertEquals(List.of("the kept tokens in " + kept + " are damaged, so the text is tokenized again"), notes);
            assertArrayEquals(whole, Files.readAllBytes(kept));
        }
    }

    @Test
    void shouldContinueIfNothingCanBeKept() throws IOException {
        Path taken = Files.writeString(home.resolve("file"), "no folder");
        assertArrayEquals(HELLO, read(TokenCache.in(taken, notes::add)));
        assertEquals(1, notes.size(), notes::toString);
        assertTrue(notes.getFirst().startsWith("tokens cannot be kept in " + taken.resolve("tokens") + " ("),
                notes.getFirst());
        assertTrue(notes.getFirst().endsWith(
                "), so text is tokenized at every start; data.cache names another folder"), notes.getFirst());
        assertArrayEquals(HELLO, read(TokenCache.none()));
    }

    @Test
    void shouldKeepNothingOfTextThatIsWrong() throws IOException {
        Files.write(text, new byte[]{'a', (byte) 0xFF});
        assertThrows(DataException.class, this::read);
        assertEquals(List.of(), kept());
    }

    @Test
    void shouldDeleteTheLeastRecentlyUsed() throws IOException {
        TokenCache small = TokenCache.in(home.resolve("cache"), 2 * (64 + 4), notes::add);
        List<Path> files = new ArrayList<>();
        for (String word : List.of("One", "Two", "One", "Three")) {
            Files.writeString(text, word);
            read(small);
            for (Path kept : kept()) {
                if (!files.contains(kept)) {
                    files.add(kept);
                }
            }
            age();
        }
        assertEquals(3, files.size());
        assertEquals(List.of(files.get(0), files.get(2)).stream().sorted().toList(), kept());
        // A file above the limit stays alone.
        Files.writeString(text, "a b c d e f g h i j k l m n o p q r s t u v w x y z ".repeat(9));
        read(small);
        assertEquals(1, kept().size());
        assertTrue(Files.size(kept().getFirst()) > 2 * (64 + 4));
    }

    @Test
    void shouldDeleteAbandonedFiles() throws IOException {
        read();
        Path folder = kept().getFirst().getParent();
        Path old = Files.writeString(folder.resolve(".x.tokens.1.tmp"), "half");
        Path fresh = Files.writeString(folder.resolve(".y.tokens.1.tmp"), "half");
        Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofDays(2))));
        Files.writeString(text, "another");
        read();
        assertTrue(Files.notExists(old));
        assertTrue(Files.exists(fresh));
    }

    @Test
    @Timeout(60)
    void shouldServeManyAtOnce() throws Exception {
        Files.writeString(text, "Hello, world! ".repeat(20_000));
        int[] expected = read(TokenCache.none());
        try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
            List<Future<int[]>> all = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                all.add(threads.submit(() -> read()));
            }
            for (Future<int[]> one : all) {
                assertArrayEquals(expected, one.get(30, TimeUnit.SECONDS));
            }
        }
        assertEquals(1, kept().size());
        assertEquals(List.of(), notes);
    }

    @Test
    void shouldKeepIdsOfAVocabularyThatTwoBytesDoNotHold() throws IOException {
        int[] ids = {127_999, 3, 65_536};
        IdBuffer buffer = new IdBuffer();
        buffer.append(ids);
        try (Arena arena = Arena.ofShared()) {
            MemorySegment kept = TokenCache.in(home.resolve("cache"), notes::add)
                    .keep("of-some-text", sink -> sink.append(ids), arena).orElseThrow();
            for (MemorySegment segment : List.of(buffer.segment(), kept)) {
                Tokens tokens = new Tokens("large", segment, Integer.BYTES);
                int[] read = new int[ids.length];
                tokens.copy(0, read, 0, read.length);
                assertArrayEquals(ids, read);
                tokens.requireVocabulary(128_000);
                assertThrows(DataException.class, () -> tokens.requireVocabulary(127_999));
            }
        }
        try (IdFile file = new IdFile(home.resolve("large.bin"), 0, Short.BYTES)) {
            String refused = assertThrows(DataException.class, () -> file.append(ids)).getMessage();
            assertTrue(refused.startsWith("token id 127999 does not fit the two bytes"), refused);
        }
    }

    @Test
    void shouldLieInTheDirectoryOfTheSpecificationOfCaches() {
        assertEquals(Path.of("/home/me/.cache/troupe"), TokenCache.ofUser(null, "/home/me"));
        assertEquals(Path.of("/home/me/.cache/troupe"), TokenCache.ofUser("", "/home/me"));
        assertEquals(Path.of("/home/me/.cache/troupe"), TokenCache.ofUser("relative", "/home/me"));
        assertEquals(Path.of("/var/cache/troupe"), TokenCache.ofUser("/var/cache", "/home/me"));
    }

    /** Makes every kept file look as if it had been used a minute earlier, so that the next one used is the newest. */
    private void age() throws IOException {
        for (Path kept : kept()) {
            Files.setLastModifiedTime(kept, FileTime
                    .from(Files.getLastModifiedTime(kept).toInstant().minus(Duration.ofMinutes(1))));
        }
    }

    private int[] read() {
        return read(TokenCache.in(home.resolve("cache"), notes::add));
    }

    private int[] read(TokenCache cache) {
        try (Corpus corpus = Corpus.open(CorpusFiles.find(List.of(text)), GPT2, cache, 0)) {
            int[] ids = new int[(int) corpus.tokens().length()];
            corpus.tokens().copy(0, ids, 0, ids.length);
            return ids;
        }
    }

    private List<Path> kept() {
        Path folder = home.resolve("cache").resolve("tokens");
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(file -> file.toString().endsWith(".tokens")).sorted().toList();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
