package dev.troupe.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.TokenKernels;
import dev.troupe.tokenizer.Tokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The examples of docs/fine-tuning-data.md, with the results that the guide shows. */
@Tag("plan")
class GuideTest {
    private static final Path GUIDE = Path.of("../../docs/fine-tuning-data.md");
    private static final Pattern EXAMPLE = Pattern.compile("```jsonl\n(.*?)```\n\n```text\n(.*?)```", Pattern.DOTALL);

    @TempDir
    private Path folder;

    @Test
    void shouldProduceTheResultsOfTheGuide() throws IOException {
        List<MatchResult> examples = EXAMPLE.matcher(Files.readString(GUIDE)).results().toList();
        assertEquals(3, examples.size());
        for (MatchResult example : examples) {
            Path file = new Folder(folder).file(example.group(1));
            boolean areChats = example.group(1).contains("messages");
            try (PackedRows rows = Folder.open(file, areChats ? Folder.tokenizer("qwen") : Tokenizer.named("bytes"),
                    new RowSettings(areChats ? 64 : 8, !areChats, false))) {
                String found = IntStream.range(0, (int) rows.rowCount())
                        .mapToObj(row -> areChats ? said(rows, row) : numbers(rows, row))
                        .collect(Collectors.joining(areChats ? "" : "\n"));
                assertEquals(squeezed(example.group(2)), found);
            }
        }
    }

    private static String numbers(PackedRows rows, int row) {
        int[] inputs = new int[8];
        int[] targets = new int[8];
        int[] starts = new int[8];
        rows.fill(row, inputs, targets, starts, 0);
        return "inputs " + listed(inputs, Integer::toString) + "targets "
                + listed(targets, id -> id == TokenKernels.NOT_COUNTED ? "." : "" + id) + "starts "
                + listed(starts, Integer::toString);
    }

    private static String listed(int[] numbers, IntFunction<String> word) {
        return Arrays.stream(numbers).mapToObj(word).collect(Collectors.joining(" ")) + "\n";
    }

    private static String said(PackedRows rows, int row) {
        int[] targets = new int[64];
        rows.fill(row, new int[64], targets, new int[64], 0);
        return Folder.tokenizer("qwen").decode(
                Arrays.stream(targets).filter(id -> id != TokenKernels.NOT_COUNTED).toArray()) + "\n";
    }

    private static String squeezed(String text) {
        return text.replaceAll(" +", " ");
    }
}
