package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
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

    /** As transformers: a number or a list, of generation_config.json or else of config.json. */
    @Test
    void shouldEndATextAtEachTokenThatTheModelEndsWith() throws Exception {
        ModelSpec model = SmallModel.write(directory, "llama", "qwen", Map.of("key-value-heads", 2));
        List<String> command = List.of("generate", "-s", "model.from=" + directory, "-s", "data.tokenizer=" + directory,
                "--prompt", "To be", "--tokens", "6", "--temperature", "0");
        String whole = Execution.of(command).requireDone().output();
        assertNotEquals("To be", whole.strip());
        String all = IntStream.range(0, model.size(Axis.VOCABULARY)).boxed().toList().toString();
        Path generation = Files.writeString(directory.resolve("generation_config.json"),
                "{\"eos_token_id\": " + all + "}");
        assertEquals("To be", Execution.of(command).requireDone().output().strip());
        Path config = directory.resolve("config.json");
        Files.writeString(config,
                Files.readString(config).replaceAll("\"eos_token_id\"[^,}]*", "\"eos_token_id\": " + all));
        Files.writeString(generation, "{\"eos_token_id\": 0}");
        assertEquals(whole, Execution.of(command).requireDone().output());
        Files.delete(generation);
        assertEquals("To be", Execution.of(command).requireDone().output().strip());
        Files.writeString(generation, "{\"eos_token_id\": [1, \"</s>\"]}");
        Execution.of(command).requireRefused(generation + ": eos_token_id[1] must be a token's id");
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
        execute("--prompt", "x".repeat(60)).requireRefused("60 tokens and 12 more are 72",
                "positions for 64: ask for 4 ");
        execute("--prompt", "x".repeat(64)).requireRefused("the prompt has 64 tokens", "positions for 64");
        Execution.of(List.of("generate", "--from", directory.resolve("run").toString(), "--prompt", "x".repeat(60)))
                .requireDone(); // its own default is no more than what fits
    }
}
