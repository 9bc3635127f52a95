package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code troupe generate} with the model of a run. */
@Tag("real")
@Timeout(120)
class GenerateTest {
    @TempDir
    private Path directory;

    private String generate(String... more) {
        return execute(more).requireDone().output();
    }

    private Execution execute(String... more) {
        List<String> arguments = new ArrayList<>(
                List.of("generate", "--from", directory.resolve("run").toString(), "--tokens", "12"));
        arguments.addAll(List.of(more));
        return Execution.of(arguments);
    }

    @Test
    void shouldContinueAPrompt() {
        Execution.train(directory.resolve("run"),
                List.of("model.family=llama", "model.layers=2", "model.hidden=32", "model.heads=2", "training.steps=3",
                        "model.sequence-length=64", "parallel.pipeline=2", "training.lora.rank=4"))
                .requireDone();
        String greedy = generate("--prompt", "To be", "--temperature", "0");
        assertTrue(greedy.startsWith("To be"), greedy);
        assertEquals(greedy, generate("--prompt", "To be", "--temperature", "0"));
        assertEquals(greedy, generate("--prompt", "To be", "--top-k", "1", "--seed", "7"));
        assertEquals(greedy, generate("--prompt", "To be", "--top-p", "0.000001", "--seed", "7"));
        String drawn = generate("--prompt", "To be", "--temperature", "2", "--seed", "7");
        assertEquals(drawn, generate("--prompt", "To be", "--temperature", "2", "--seed", "7"));
        assertNotEquals(drawn, generate("--prompt", "To be", "--temperature", "2", "--seed", "8"));
        execute("--prompt", "").requireRefused("at least one token");
        execute("--prompt", "To be", "--top-p", "0").requireRefused("top-p above 0");
        execute("--prompt", "x".repeat(60)).requireRefused("60 tokens and 12 more are 72", "positions for 64");
    }
}
