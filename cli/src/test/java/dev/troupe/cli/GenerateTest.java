package dev.troupe.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
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
                "room for 64: ask for 4 ");
        execute("--prompt", "x".repeat(64)).requireRefused("the prompt has 64 tokens", "room for 64");
        Execution.of(List.of("generate", "--from", directory.resolve("run").toString(), "--prompt", "x".repeat(60)))
                .requireDone(); // its own default is no more than what fits
    }

    private List<String> small(String... more) throws Exception {
        if (Files.notExists(directory.resolve("config.json"))) {
            SmallModel.write(directory, "llama", "qwen", Map.of("key-value-heads", 2));
        }
        List<String> command = new ArrayList<>(List.of("generate", "-s", "model.from=" + directory, "-s",
                "data.tokenizer=" + directory, "--tokens", "6"));
        command.addAll(List.of(more));
        return command;
    }

    private String textOf(String prompt, String... more) throws Exception {
        List<String> all = new ArrayList<>(List.of("--prompt", prompt));
        all.addAll(List.of(more));
        String text = Execution.of(small(all.toArray(String[]::new))).requireDone().output();
        assertTrue(text.startsWith(prompt) && text.endsWith("\n"), text);
        return text.substring(prompt.length(), text.length() - 1);
    }

    private List<JsonNode> lines(String... more) throws Exception {
        List<JsonNode> lines = new ArrayList<>();
        for (String line : Execution.of(small(more)).requireDone().output().lines().toList()) {
            lines.add(new ObjectMapper().readTree(line));
        }
        return lines;
    }

    @Test
    void shouldContinueThePromptsOfAFileAsOneByOne() throws Exception {
        Path file = Files.writeString(directory.resolve("prompts.jsonl"), "\"To be\"\n\"or not\"\n");
        List<JsonNode> lines = lines("--prompts", file.toString(), "--answers", "2", "--seed", "5");
        assertEquals(4, lines.size());
        for (int line = 0; line < 4; line++) {
            String prompt = line < 2 ? "To be" : "or not";
            assertEquals(prompt, lines.get(line).get("prompt").asText());
            assertEquals(line % 2, lines.get(line).get("answer").asInt());
            assertEquals(textOf(prompt, "--seed", Integer.toString(5 + line % 2)),
                    lines.get(line).get("text").asText());
            assertEquals("length", lines.get(line).get("end").asText());
            assertEquals(6, lines.get(line).get("tokens").asInt());
        }
        Files.writeString(file, "\"To be\"\n[1]\n");
        Execution.of(small("--prompts", file.toString())).requireRefused(file + ", line 2: must be a JSON string");
        Files.writeString(file, "");
        Execution.of(small("--prompts", file.toString())).requireRefused("must have a prompt, but is empty");
    }

    @Test
    void shouldEndBeforeATextAndAtATokenOfTheUser() throws Exception {
        String whole = textOf("To be", "--temperature", "0");
        String middle = whole.substring(whole.length() / 2, whole.length() / 2 + 2);
        assertEquals(whole.substring(0, whole.indexOf(middle)),
                textOf("To be", "--temperature", "0", "--stop", "no such text", "--stop", middle));
        JsonNode first = lines("--prompt", "To be", "--temperature", "0", "--log-probabilities", "2").getFirst();
        JsonNode third = first.get("log-probabilities").get(2);
        JsonNode stopped = lines("--prompt", "To be", "--temperature", "0", "--log-probabilities", "0", "--stop-token",
                third.get("token").asText()).getFirst();
        assertEquals("stop", stopped.get("end").asText());
        assertTrue(first.get("text").asText().startsWith(stopped.get("text").asText()));
        assertTrue(stopped.get("log-probabilities").size() <= 2);
        assertEquals(2, third.get("likeliest").size());
        assertEquals(third.get("token"), third.get("likeliest").get(0).get("token"));
        assertEquals(third.get("log-probability"), third.get("likeliest").get(0).get("log-probability"));
        assertTrue(third.get("log-probability").asDouble() < 0);
    }

    @Test
    void shouldAnswerInAChatAsToItsTemplate() throws Exception {
        InputStream before = System.in;
        try {
            System.setIn(new ByteArrayInputStream("To be?\n\n/new\nor not\n/exit\nunread\n".getBytes(UTF_8)));
            List<String> answers = Execution.of(small("--chat", "--temperature", "0")).requireDone().output().lines()
                    .toList();
            assertEquals(2, answers.size(), answers.toString());
            Path file = Files.writeString(directory.resolve("chats.jsonl"),
                    "{\"messages\": [{\"role\": \"user\", \"content\": \"To be?\"}]}\n"
                            + "{\"messages\": [{\"role\": \"user\", \"content\": \"or not\"}]}\n");
            List<JsonNode> lines = lines("--prompts", file.toString(), "--temperature", "0");
            for (int line = 0; line < 2; line++) {
                assertEquals(lines.get(line).get("text").asText(), answers.get(line));
            }
            System.setIn(new ByteArrayInputStream("To be?\n".getBytes(UTF_8)));
            String full = Execution.of(small("--chat", "--context", "12")).requireDone().output();
            assertTrue(full.contains("begin again with /new"), full);
        } finally {
            System.setIn(before);
        }
    }

    @Test
    void shouldRefuseWhatNoTextCanBeWrittenBy() throws Exception {
        Execution.of(small()).requireRefused("give one of --prompt, --prompts and --chat");
        Execution.of(small("--prompt", "a", "--chat")).requireRefused("give one of");
        Execution.of(small("--prompt", "a", "--system", "b")).requireRefused("--system and --context are for --chat");
        Execution.of(small("--prompt", "a", "--stop", "")).requireRefused("--stop must have at least one character");
        Execution.of(small("--prompt", "a", "--min-p", "1")).requireRefused("min-p of at least 0 and below 1");
        Execution.of(small("--prompt", "a", "--repetition-penalty", "0")).requireRefused("repetition penalty above 0");
        Execution.of(small("--prompt", "a", "--presence-penalty", "3")).requireRefused("from -2 to 2");
        Execution.of(small("--prompt", "a", "--answers", "0")).requireRefused("--answers must be at least 1");
        Execution.of(small("--prompt", "a", "--log-probabilities", "21")).requireRefused("from 0 to 20");
        Execution.of(small("--chat", "--context", "65")).requireRefused("--context must be at most 64");
        List<String> bytes = small("--chat");
        bytes.set(bytes.indexOf("data.tokenizer=" + directory), "data.tokenizer=bytes");
        Execution.of(bytes).requireRefused("need a chat template, but the tokenizer is bytes");
    }
}
