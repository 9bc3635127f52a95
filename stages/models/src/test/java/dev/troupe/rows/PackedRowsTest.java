package dev.troupe.rows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.batch.Batches;
import dev.troupe.batch.MicrobatchRows;
import dev.troupe.batch.Order;
import dev.troupe.batch.SequenceLengths;
import dev.troupe.data.CorpusFiles;
import dev.troupe.data.DataException;
import dev.troupe.data.TokenCache;
import dev.troupe.engine.TokenKernels;
import dev.troupe.tokenizer.Tokenizer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("plan")
class PackedRowsTest {
    private static final int NONE = TokenKernels.NOT_COUNTED;

    @TempDir
    private Path folder;

    /** The counted targets of each step of 4 rows in PyTorch's goldens. */
    @ParameterizedTest
    @CsvSource({"llama-lora, '99 116 90 87'", "qwen3-lora-all, '94 100 99 84'",
            "llama-packed-masked, '100 95 103 102'"})
    void shouldCountTheTargetsOfPublishedRows(String name, String expected) {
        Path file = Folder.resource("/rows/" + name + ".jsonl");
        try (PackedRows rows = Folder.open(file, 40)) {
            assertEquals(16, rows.rowCount());
            List<String> steps = new ArrayList<>();
            for (long step = 0; step < 4; step++) {
                steps.add("" + LongStream.range(4 * step, 4 * step + 4).map(rows::countedTargets).sum());
            }
            assertEquals(expected, String.join(" ", steps));
            int[] targets = new int[40];
            for (long row = 0; row < 16; row++) {
                rows.fill(row, new int[40], targets, new int[40], 0);
                assertEquals(rows.countedTargets(row), Arrays.stream(targets).filter(target -> target != NONE).count());
            }
        }
    }

    @Test
    void shouldFillARowWithItsDocumentsAndPadding() {
        Path file = new Folder(folder).file("""
                {"row": 7, "documents": [{"ids": [5, 6, 7], "counted": [1, 0, 1]}, {"ids": [8], "counted": [1]}]}

                {"documents": [{"counted": [0, 1], "ids": [3, 4]}]}
                """);
        try (PackedRows rows = Folder.open(file, 6)) {
            int[] inputs = new int[14];
            int[] targets = new int[14];
            int[] starts = new int[14];
            rows.fill(0, inputs, targets, starts, 1);
            rows.fill(1, inputs, targets, starts, 7);
            assertArrayEquals(new int[]{0, 5, 6, 7, 8, 0, 0, 3, 4, 0, 0, 0, 0, 0}, inputs);
            assertArrayEquals(new int[]{0, NONE, 7, NONE, NONE, NONE, NONE, 4, NONE, NONE, NONE, NONE, NONE, 0},
                    targets);
            assertArrayEquals(new int[]{0, 0, 0, 0, 3, 4, 4, 0, 0, 2, 2, 2, 2, 0}, starts);
            assertEquals(new RowFigures(2, 3, 6, 2, 4, 0.5), rows.figures());
            assertEquals(file.toString(), rows.name());
        }
    }

    @Test
    void shouldMakeAMicrobatchAsLongAsItsLongestRow() {
        Path file = new Folder(folder).file("""
                {"documents": [{"ids": [1, 2], "counted": [1, 1]}]}
                {"documents": [{"ids": [3, 4, 5], "counted": [1, 1, 1]}, {"ids": [6], "counted": [1]}]}
                {"documents": [{"ids": [7, 8, 9, 1, 2, 3, 4], "counted": [1, 1, 1, 1, 1, 1, 1]}]}
                {"documents": [{"ids": [6, 7], "counted": [1, 1]}]}
                """);
        try (PackedRows all = Folder.open(file, 7)) {
            Batches batches = new Batches(all, Order.SEQUENTIAL, 0, 4, new SequenceLengths(7, 3));
            assertEquals(List.of(3, 6, 7, 3), IntStream.range(0, 4).mapToObj(m -> batches.lengthOf(0, m, 1)).toList());
            assertEquals(6, batches.lengthOf(1, 0, 2));
            MicrobatchRows rows = new MicrobatchRows(14, true);
            batches.fillMicrobatch(0, 1, 2, rows);
            assertEquals(14, rows.tokenCount());
            batches.fillMicrobatch(0, 0, 2, rows);
            assertEquals(12, rows.tokenCount());
            assertArrayEquals(new int[]{1, 2, 0, 0, 0, 0, 3, 4, 5, 6, 0, 0}, Arrays.copyOf(rows.inputs(), 12));
            assertArrayEquals(new int[]{0, 0, 2, 2, 2, 2, 0, 0, 0, 3, 4, 4}, Arrays.copyOf(rows.starts(), 12));
            assertEquals(10 * 2 / 4.0, rows.targetsPerMicrobatch());
        }
    }

    @Test
    void shouldGiveAPartOfTheRows() {
        Path file = new Folder(folder).file("""
                {"documents": [{"ids": [1, 2], "counted": [1, 1]}]}
                {"documents": [{"ids": [3, 4, 5], "counted": [1, 1, 1]}]}
                {"documents": [{"ids": [6, 7], "counted": [1, 1]}]}
                """);
        try (PackedRows rows = Folder.open(file, 4); PackedRows part = rows.part("the last two", 1, 2)) {
            assertEquals("the last two", part.name());
            assertEquals(2, part.rowCount());
            assertEquals(2, part.countedTargets(0));
            assertEquals(new RowFigures(2, 2, 5, 3, 3, 0.375), part.figures());
            int[] inputs = new int[4];
            part.fill(1, inputs, new int[4], new int[4], 0);
            assertArrayEquals(new int[]{6, 7, 0, 0}, inputs);
            assertThrows(IndexOutOfBoundsException.class, () -> part.countedTargets(2));
            assertThrows(IndexOutOfBoundsException.class, () -> rows.part("none", 2, 2));
        }
    }

    @Test
    void shouldNameTheLineOfATokenThatAVocabularyLacks() {
        Path file = new Folder(folder).file("""
                {"documents": [{"ids": [1, 2], "counted": [1, 1]}]}
                {"documents": [{"ids": [3, 9, 5], "counted": [1, 1, 1]}]}
                """);
        try (PackedRows rows = Folder.open(file, 4)) {
            rows.requireVocabulary(10);
            rows.part("the first", 0, 1).requireVocabulary(3);
            assertEquals(file + ": line 2 has the token 9, but the model's vocabulary has 9 tokens, 0 to 8; set"
                    + " model.vocabulary-size to 10 or more, or use another file or tokenizer",
                    assertThrows(DataException.class, () -> rows.requireVocabulary(9)).getMessage());
        }
    }

    @Test
    void shouldFindRowsThatWereMadeBefore() {
        Path file = new Folder(folder).file("{\"documents\": [{\"ids\": [1, 2], \"counted\": [0, 1]}]}\n");
        TokenCache cache = TokenCache.in(folder.resolve("cache"), note -> {
            throw new AssertionError(note);
        });
        for (int sequenceLength : new int[]{2, 2, 3}) {
            try (PackedRows rows = PackedRows.open(CorpusFiles.find(List.of(file)), Tokenizer.named("bytes"),
                    new RowSettings(sequenceLength, true, false), cache)) {
                assertEquals(1, rows.rowCount());
                assertEquals(sequenceLength, rows.sequenceLength());
            }
        }
        assertEquals(2, folder.resolve("cache/tokens").toFile().list().length);
    }

    /** Rows of one template do not serve another, and rows of changed files are made again. */
    @Test
    void shouldMakeRowsAgainForAnotherTemplate() throws IOException {
        Folder files = new Folder(folder);
        Path file = files.file("{\"messages\": [{\"role\": \"assistant\", \"content\": \"a b c\"}]}\n");
        TokenCache cache = TokenCache.in(folder.resolve("cache"), note -> {
            throw new AssertionError(note);
        });
        String template = "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}";
        for (String end : List.of("", "!", "")) {
            try (PackedRows rows = PackedRows.open(CorpusFiles.find(List.of(file)), files.tokenizerWith(template + end),
                    new RowSettings(16, true, false), cache)) {
                assertEquals(end.length(), rows.figures().tokens() - 3);
            }
        }
        assertEquals(2, folder.resolve("cache/tokens").toFile().list().length);
    }
}
