package dev.troupe.rows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.data.DataException;
import dev.troupe.engine.TokenKernels;
import dev.troupe.tokenizer.Tokenizer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("plan")
class RowPackerTest {
    private static final int NONE = TokenKernels.NOT_COUNTED;

    @TempDir
    private Path folder;

    /** Every document once, in order, none across a row, each row as full as the next document allows. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldPutEveryDocumentIntoOneRow(boolean isPacked) {
        for (long seed = 0; seed < 40; seed++) {
            Random random = new Random(seed);
            int sequenceLength = 2 + random.nextInt(30);
            List<String> texts = new ArrayList<>();
            StringBuilder lines = new StringBuilder();
            for (int i = 0; i < 1 + random.nextInt(60); i++) {
                texts.add(("" + (char) ('A' + i)).repeat(2 + random.nextInt(sequenceLength - 1)));
                lines.append("{\"text\": \"").append(texts.getLast()).append("\"}\n");
            }
            Path file = new Folder(folder).file(lines.toString());
            try (PackedRows rows = Folder.open(file, Tokenizer.named("bytes"),
                    new RowSettings(sequenceLength, isPacked, false))) {
                assertEquals(texts, documents(rows, isPacked), "seed " + seed);
                assertEquals(texts.size(), rows.figures().documents());
                assertEquals(texts.stream().mapToInt(text -> text.length() - 1).sum(), rows.figures().countedTargets());
            }
        }
    }

    /** The documents of all rows, after a look at the rows themselves. */
    private static List<String> documents(PackedRows rows, boolean isPacked) {
        int length = rows.sequenceLength();
        List<String> documents = new ArrayList<>();
        int room = 0;
        for (long row = 0; row < rows.rowCount(); row++) {
            int[] inputs = new int[length];
            int[] targets = new int[length];
            int[] starts = new int[length];
            rows.fill(row, inputs, targets, starts, 0);
            int counted = 0;
            for (int from = 0, to; from < length; from = to) {
                to = from + 1;
                while (to < length && starts[to] == from) {
                    to++;
                }
                boolean isPadding = inputs[from] == 0;
                for (int at = from; at < to; at++) {
                    assertEquals(from, starts[at]);
                    assertEquals(!isPadding && at + 1 < to ? inputs[at + 1] : NONE, targets[at]);
                    counted += targets[at] == NONE ? 0 : 1;
                }
                if (!isPadding) {
                    assertTrue(from > 0 || row == 0 || to > room || !isPacked, "the document fits the row before");
                    assertTrue(from == 0 || isPacked);
                    documents.add(new String(inputs, from, to - from));
                }
                room = isPadding ? to - from : 0;
            }
            assertEquals(counted, rows.countedTargets(row));
        }
        return documents;
    }

    /** Each piece begins with the last token of the one before, so each token but the first is a target once. */
    @Test
    void shouldCutLongTextIfThatIsAllowed() {
        Path file = new Folder(folder).file("{\"text\": \"abcdefghi\"}\n{\"text\": \"xy\"}\n");
        try (PackedRows rows = Folder.open(file, Tokenizer.named("bytes"), new RowSettings(4, true, true))) {
            List<String> inputs = new ArrayList<>();
            StringBuilder targets = new StringBuilder();
            for (long row = 0; row < rows.rowCount(); row++) {
                int[] ids = new int[4];
                int[] next = new int[4];
                rows.fill(row, ids, next, new int[4], 0);
                inputs.add(new String(ids, 0, 4));
                Arrays.stream(next).filter(id -> id != NONE).forEach(id -> targets.append((char) id));
            }
            assertEquals(List.of("abcd", "defg", "ghi\0", "xy\0\0"), inputs);
            assertEquals("bcdefghiy", targets.toString());
        }
    }

    @Test
    void shouldEndTextWithTheTokenForIt() {
        Tokenizer qwen = Folder.tokenizer("qwen");
        Document document = new Documents(qwen).ofText(new DocumentOrigin(folder, 0, 1), "ab");
        assertEquals("ab<|im_end|>", qwen.decode(document.ids()));
        assertArrayEquals(new boolean[]{true, true, true}, Arrays.copyOf(document.isCounted(), 3));
    }

    @Test
    void shouldRefuseADocumentLongerThanARow() {
        assertEquals(
                "FILE: line 2 is a row of 5 tokens, longer than model.sequence-length = 4; set that to 5 or more, or"
                        + " write shorter rows",
                refusal("""
                        {"text": "abcd"}
                        {"documents": [{"ids": [1, 2, 3], "counted": [1, 1, 1]}, {"ids": [1, 2], "counted": [1, 1]}]}
                        """, false));
        assertEquals(
                "FILE: line 1 is a document of 5 tokens, longer than model.sequence-length = 4; set that to 5 or more,"
                        + " or data.cut-long-text = true, or shorten the text",
                refusal("{\"text\": \"abcde\"}", false));
        Path chats = new Folder(folder)
                .file("{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}, {\"role\": \"assistant\", \"content\": \"x\"}]}");
        assertEquals(
                "FILE: line 1 is a document of 17 tokens, longer than model.sequence-length = 4; set that to 17 or more,"
                        + " or leave the chat out",
                Folder.refusal(chats, Folder.tokenizer("qwen"), new RowSettings(4, true, true)));
    }

    @Test
    void shouldRefuseARowIfNothingCounts() {
        String nothing = " tokens in which no target counts; leave these documents out, or let another token than the"
                + " first of a document count";
        assertEquals("FILE: line 1 begins a row of 2" + nothing, refusal("""
                {"documents": [{"ids": [1], "counted": [1]}, {"ids": [2], "counted": [1]}]}
                """, false));
        assertEquals("FILE: line 2 begins a row of 3" + nothing, refusal("""
                {"text": "abc"}
                {"text": "a"}
                {"text": "b"}
                {"text": "c"}
                """.replace("abc", "abcd"), false));
    }

    @Test
    void shouldRefuseRowsThatHaveNoTargets() {
        assertTrue(assertThrows(DataException.class, () -> new RowSettings(1, true, false)).getMessage()
                .contains("need a model.sequence-length of 2 or more"));
    }

    private String refusal(String lines, boolean cutsLongText) {
        return Folder.refusal(new Folder(folder).file(lines), Tokenizer.named("bytes"),
                new RowSettings(4, true, cutsLongText));
    }
}
