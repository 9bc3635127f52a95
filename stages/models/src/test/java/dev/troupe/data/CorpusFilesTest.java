package dev.troupe.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("plan")
class CorpusFilesTest {
    @TempDir
    private Path folder;

    @BeforeEach
    void writeFiles() throws IOException {
        for (String name : List.of("text/b.txt", "text/a.md", "text/part-10.txt", "text/part-2.txt", "text/more/c.txt",
                "text/.hidden/d.txt", "text/.hidden.txt", "tokens/1.bin", "tokens/0.bin")) {
            Path file = folder.resolve(name);
            Files.createDirectories(file.getParent());
            Files.writeString(file, "text");
        }
        Files.createFile(folder.resolve("text/empty.txt"));
        Files.createSymbolicLink(folder.resolve("linked"), folder.resolve("text/more"));
    }

    @Test
    void shouldFindTheFilesOfAFolderInTheOrderOfTheirNames() {
        assertEquals(List.of("text/a.md", "text/b.txt", "text/more/c.txt", "text/part-10.txt", "text/part-2.txt"),
                found("text"));
        assertEquals(List.of("tokens/0.bin", "tokens/1.bin"), found("tokens"));
        assertTrue(CorpusFiles.find(List.of(folder.resolve("tokens"))).areTokens());
        assertEquals(List.of("linked/c.txt"), found("linked"));
    }

    @Test
    void shouldFindTheFilesThatAGlobMatches() {
        assertEquals(List.of("text/b.txt", "text/part-10.txt", "text/part-2.txt"), found("text/*.txt"));
        assertEquals(List.of("text/b.txt", "text/more/c.txt", "text/part-10.txt", "text/part-2.txt"),
                found("text/{*,*/*}.txt"));
        assertEquals(List.of("linked/c.txt", "text/more/c.txt"), found("**/c.txt"));
        assertEquals(List.of("text/part-2.txt"), found("text/part-[0-9].txt"));
        assertEquals(List.of("text/.hidden.txt"), found("text/.*.txt"));
        assertEquals(List.of("tokens/0.bin", "tokens/1.bin"), found("t?kens/?.bin"));
    }

    @Test
    void shouldTakeEachFileOnceInTheOrderOfTheList() {
        assertEquals(List.of("text/part-2.txt", "text/a.md", "text/b.txt", "text/more/c.txt", "text/part-10.txt"),
                found("text/part-2.txt", "text", "text/a.md"));
    }

    @Test
    void shouldTakeAFileWithANameLikeAGlob() throws IOException {
        Files.writeString(folder.resolve("text/[ab].txt"), "text");
        assertEquals(List.of("text/[ab].txt"), found("text/[ab].txt"));
    }

    @Test
    void shouldRefusePathsWithoutData() throws IOException {
        for (String glob : List.of("text/*.bin", "none/*.txt", "text/empty*")) {
            assertEquals("no file with content has the name " + folder.resolve(glob)
                    + "; name existing files", refusal(glob));
        }
        Path empty = Files.createDirectory(folder.resolve("nothing"));
        assertEquals(empty + " is a folder without a file with content; put text or tokens there, or name"
                + " another", refusal("nothing"));
        assertTrue(refusal("text/{a").startsWith(folder.resolve("text/{a") + " is no file, and no glob either: "),
                refusal("text/{a"));
    }

    @Test
    void shouldLeaveAMissingFileToItsReader() {
        assertEquals(List.of("gone.txt"), found("gone.txt"));
        assertFalse(CorpusFiles.find(List.of(folder.resolve("gone.txt"))).areTokens());
    }

    @Test
    void shouldKnowTheKindOfAFileByItsSuffix() throws IOException {
        assertEquals(CorpusFiles.Kind.TEXT, CorpusFiles.find(paths("text")).kind());
        assertEquals(CorpusFiles.Kind.TOKENS, CorpusFiles.find(paths("tokens")).kind());
        Files.createDirectory(folder.resolve("chats"));
        Files.writeString(folder.resolve("chats/a.jsonl"), "{}");
        Files.writeString(folder.resolve("chats/b.parquet"), "PAR1");
        assertEquals(CorpusFiles.Kind.DOCUMENTS, CorpusFiles.find(paths("chats")).kind());
    }

    @ParameterizedTest
    @CsvSource({"a.ndjson, DOCUMENTS", "a.jsonlines, DOCUMENTS", "a.json, DOCUMENTS", "A.JSONL, DOCUMENTS",
            "a.Parquet, DOCUMENTS", "a.BIN, TOKENS", "a.TXT, TEXT", "json, TEXT", "a.jsonl.txt, TEXT"})
    void shouldKnowTheKindInLettersOfEitherCase(String name, CorpusFiles.Kind kind) {
        assertEquals(kind, CorpusFiles.find(List.of(folder.resolve(name))).kind());
        assertEquals(kind, CorpusFiles.kindOf(Path.of(name)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a.jsonl.gz", "A.TXT.GZ", "a.json.zst", "a.tar", "a.zip", "a.jsonl.bz2", "a.parquet.xz"})
    void shouldRefuseCompressedFiles(String name) {
        assertEquals(folder.resolve(name) + " is compressed by its name, and files are read where they lie: unpack it,"
                + " and name what it holds", refusal(name));
    }

    @ParameterizedTest
    @CsvSource({"1f8b0800, gzip", "28b52ffd00, Zstandard", "fd377a585a0000, xz", "504b030414, ZIP"})
    void shouldRefuseCompressedFilesUnderANameOfText(String start, String format) throws IOException {
        Path file = Files.write(folder.resolve("plain.txt"), HexFormat.of().parseHex(start));
        try (Arena arena = Arena.ofConfined()) {
            assertEquals(file + " is compressed by its content (" + format + "), and files are read where they lie:"
                    + " unpack it, and name what it holds",
                    assertThrows(DataException.class, () -> DataFile.mapText(file, arena)).getMessage());
        }
    }

    @Test
    void shouldRefuseFilesOfTwoKinds() throws IOException {
        assertEquals("a corpus must be text, .bin files of tokens, or .jsonl and .parquet files of documents, but "
                + folder.resolve("text/a.md") + " and " + folder.resolve("tokens/0.bin")
                + " are of two kinds; name files of one kind, or make tokens of text with troupe tokenize",
                refusal("text", "tokens"));
        Files.writeString(folder.resolve("text/a.jsonl"), "{}");
        assertTrue(refusal("text").contains(folder.resolve("text/a.jsonl") + " and " + folder.resolve("text/a.md")),
                refusal("text"));
    }

    private List<String> found(String... names) {
        return CorpusFiles.find(paths(names)).files().stream().map(file -> folder.relativize(file).toString()).toList();
    }

    private String refusal(String... names) {
        return assertThrows(DataException.class, () -> CorpusFiles.find(paths(names))).getMessage();
    }

    private List<Path> paths(String... names) {
        return List.of(names).stream().map(folder::resolve).toList();
    }
}
