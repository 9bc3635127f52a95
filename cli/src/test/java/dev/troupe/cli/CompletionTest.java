package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The script of {@code troupe completion}, in a shell. */
@Tag("runtime")
@Timeout(60)
final class CompletionTest {
    @TempDir
    private Path folder;

    @Test
    void shouldCompleteCommandsOptionsKeysAndValuesInBash() throws Exception {
        assertTrue(completed("troupe", "sch").contains("schedule"));
        assertTrue(completed("troupe", "train", "--re").contains("--resume"));
        assertEquals(List.of("training.learning-rate.peak="), completed("troupe", "train", "-s",
                "training.learning-rate.p"));
        assertTrue(completed("troupe", "train", "-s", "").contains("model.layers="));
        assertEquals(List.of("bfloat16"), completed("troupe", "train", "-s", "training.precision", "=", "b"));
        assertTrue(completed("troupe", "train", "-s", "name", "=", "x", "-s", "engine.kind", "=", "c").contains("cpu"));
        assertEquals(List.of("gpt2"), completed("troupe", "train", "-s", "data.tokenizer", "=", "g"));
        assertEquals(List.of("/tmp"), completed("troupe", "train", "-s", "data.tokenizer", "=", "/tm"));
        assertTrue(completed("troupe", "tokenize", "--json").contains("--json-strings"));
        assertTrue(completed("troupe", "compare", "-s", "parallel.schedule", "=").contains("zb-h1"));
        assertEquals(List.of("pipedream-2bw", "pipedream", "pipedream-vertical-sync"),
                completed("troupe", "train", "-s", "parallel.schedule", "=", "pipe"));
        assertTrue(completed("troupe", "train", "-s", "name", "=", "x", "--o").contains("--out"));
    }

    @Test
    void shouldCompleteWhenTheShellKeepsASettingTogether() throws Exception {
        assertEquals(List.of("training.precision=bfloat16"), completed("troupe", "train", "-s",
                "training.precision=b"));
    }

    /** Returns bash's completions of the last of these words. */
    private List<String> completed(String... words) throws IOException, InterruptedException {
        Path script = folder.resolve("completion.bash");
        if (Files.notExists(script)) {
            Files.writeString(script, Door.call("completion", "bash").output());
        }
        List<String> command = new ArrayList<>(List.of("bash", "--norc", "-c", """
                source "$0"
                COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
                function=$(complete -p troupe | sed 's/.*-F \\([^ ]*\\).*/\\1/')
                "$function" troupe "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
                [ "${#COMPREPLY[@]}" = 0 ] || printf '%s\\n' "${COMPREPLY[@]}"
                """, script.toString()));
        command.addAll(List.of(words));
        Process bash = new ProcessBuilder(command).redirectErrorStream(true).start();
        String offered = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(bash.waitFor(20, TimeUnit.SECONDS));
        assertEquals(0, bash.exitValue(), offered);
        return offered.lines().map(String::strip).toList();
    }
}
