package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.troupe.look.model.Generation;
import dev.troupe.look.model.GenerationQueue;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Lora;
import dev.troupe.serve.ApiServer;
import dev.troupe.weights.WeightException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Adapters of one model in one {@code troupe serve}, chosen by name. */
@Tag("real")
@Timeout(120)
class ServedAdaptersTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> NAMES = List.of("small", "polite", "terse");

    @TempDir
    private static Path directory;
    private static Path model;
    private static Generation generation;
    private static GenerationQueue queue;
    private static ApiServer server;
    private static HttpClient client;

    @BeforeAll
    static void open() throws Exception {
        model = Files.createDirectory(directory.resolve("small"));
        ModelSpec spec = SmallModel.write(model, "llama", "qwen", Map.of("key-value-heads", 2));
        SmallModel.writeAdapter(directory.resolve("polite"), spec, new Lora(2, 4, List.of(), "base"));
        // as in the directory of a run
        SmallModel.writeAdapter(directory.resolve("terse/model"), spec,
                new Lora(3, 5, true, List.of(Lora.ALL_LINEAR), "base"));
        Map<String, Path> adapters = new LinkedHashMap<>();
        adapters.put("polite", directory.resolve("polite"));
        adapters.put("terse", directory.resolve("terse"));
        generation = Generation.of(model, List.of("engine.exact-rows=true"), adapters);
        queue = generation.open(60, 3, 20);
        server = ApiServer.open(new ApiServer.Settings(new InetSocketAddress("127.0.0.1", 0), Optional.empty(),
                Optional.empty(), "small"), generation, queue, 60);
        client = HttpClient.newHttpClient();
    }

    @AfterAll
    static void close() {
        client.close();
        queue.close();
        server.close();
        generation.close();
    }

    private static JsonNode answer(String name, int seed) {
        try {
            HttpResponse<String> response = client.send(HttpRequest
                    .newBuilder(URI.create(server.address() + "/v1/completions"))
                    .header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString("{\"model\": \"" + name + "\", \"prompt\": \"To be\","
                            + " \"max_tokens\": 8, \"logprobs\": 0, \"temperature\": 1.3, \"seed\": " + seed + "}"))
                    .build(), HttpResponse.BodyHandlers.ofString());
            assertEquals(200, response.statusCode(), response.body());
            JsonNode answer = JSON.readTree(response.body());
            assertEquals(name, answer.get("model").asText());
            return answer.get("choices").get(0);
        } catch (Exception failed) {
            throw new IllegalStateException(failed);
        }
    }

    /** To the bit: with the log-probability of each token. */
    @Test
    void shouldAnswerAsGenerateDoesWithTheAdapter() throws Exception {
        Map<String, List<String>> settings = Map.of("small", List.of(), "polite",
                List.of("-s", "model.adapter=" + directory.resolve("polite")), "terse",
                List.of("-s", "model.adapter=" + directory.resolve("terse/model")));
        List<String> texts = new ArrayList<>();
        for (String name : NAMES) {
            List<String> arguments = new ArrayList<>(List.of("generate", "-s", "engine.exact-rows=true",
                    "-s", "model.from=" + model, "-s", "data.tokenizer=" + model, "--prompt", "To be", "--tokens", "8",
                    "--temperature", "1.3",
                    "--seed", "5", "--log-probabilities", "0"));
            arguments.addAll(settings.get(name));
            JsonNode expected = JSON.readTree(Execution.of(arguments).requireDone().output());
            JsonNode found = answer(name, 5);
            texts.add(found.get("text").asText());
            assertEquals(expected.get("text").asText(), found.get("text").asText());
            assertEquals(numbers(expected.get("log-probabilities").findValues("log-probability")),
                    numbers(found.get("logprobs").get("token_logprobs")), name);
        }
        assertEquals(3, texts.stream().distinct().count(), texts.toString());
    }

    private static List<Double> numbers(Iterable<JsonNode> nodes) {
        return StreamSupport.stream(nodes.spliterator(), false).map(JsonNode::asDouble).toList();
    }

    @Test
    void shouldWriteTextsOfAllAdaptersAtOnce() {
        List<JsonNode> alone = new ArrayList<>();
        List<Integer> requests = List.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
        requests.forEach(request -> alone.add(answer(NAMES.get(request % 3), request)));
        assertEquals(alone,
                requests.parallelStream().map(request -> answer(NAMES.get(request % 3), request)).toList());
    }

    @Test
    void shouldListAdaptersAndRefuseOtherNames() throws Exception {
        JsonNode models = JSON.readTree(get("/v1/models").body()).get("data");
        assertEquals(NAMES, models.findValuesAsText("id"));
        assertEquals(List.of("small", "small"), models.findValuesAsText("parent"));
        assertEquals("small", JSON.readTree(get("/v1/models/terse").body()).get("parent").asText());
        HttpResponse<String> unknown = get("/v1/models/rude");
        assertEquals(404, unknown.statusCode());
        JsonNode error = JSON.readTree(unknown.body()).get("error");
        assertEquals("model_not_found", error.get("code").asText());
        assertEquals("there is no model \"rude\"; there is \"small\", \"polite\", \"terse\"",
                error.get("message").asText());
    }

    private static HttpResponse<String> get(String path) throws Exception {
        return client.send(HttpRequest.newBuilder(URI.create(server.address() + path)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void shouldRefuseAdaptersThatCannotBeServed() {
        String polite = directory.resolve("polite").toString();
        refused("--adapter must be NAME=DIR, but is polite", "--adapter", "polite");
        refused("the name polite is taken", "--adapter", "polite=" + polite, "--adapter", "polite=" + polite);
        refused("the name small is taken", "--adapter", "small=" + polite);
        refused("is no directory with an adapter", "--adapter", "rude=" + directory.resolve("rude"));
        refused("need a model without adapters", "--adapter", "polite=" + polite, "-s", "model.adapter=" + polite);
        Path other = directory.resolve("wide");
        SmallModel.writeAdapter(other, SmallModel.spec("llama", generation.tokenizer(), Map.of("hidden", 128)),
                new Lora(2, 4, List.of(), "base"));
        String sentence = assertThrows(WeightException.class,
                () -> Generation.of(model, List.of(), Map.of("wide", other))).getMessage();
        assertTrue(sentence.contains("is no adapter for this model"), sentence);
    }

    private static void refused(String part, String... more) {
        List<String> arguments = new ArrayList<>(List.of("serve", model.toString()));
        arguments.addAll(List.of(more));
        Execution.of(arguments).requireRefused(part);
    }
}
