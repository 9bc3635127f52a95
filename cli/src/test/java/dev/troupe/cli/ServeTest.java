package dev.troupe.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.config.cluster.TlsSpec;
import dev.troupe.look.model.Generation;
import dev.troupe.look.model.GenerationQueue;
import dev.troupe.run.cluster.tls.Certificates;
import dev.troupe.serve.ApiServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The server of {@code troupe serve} with a small model, in this process. */
@Tag("real")
@Timeout(120)
class ServeTest {
    /** Texts of several requests are rows of one forward. */
    private static final String EXACT_ROWS = "engine.exact-rows=true";
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int CONTEXT = 60;
    private static final int SLOTS = 3;
    private static final int WAITING = 61;

    @TempDir
    private static Path directory;
    private static Generation generation;
    private static GenerationQueue queue;
    private static ApiServer server;
    private static HttpClient client;

    @BeforeAll
    static void open() throws Exception {
        SmallModel.write(directory, "llama", "qwen", Map.of("key-value-heads", 2));
        generation = Generation.of(directory, List.of(EXACT_ROWS));
        queue = generation.open(CONTEXT, SLOTS, WAITING);
        server = ApiServer.open(settings(Optional.empty()), generation, queue, CONTEXT);
        client = HttpClient.newHttpClient();
    }

    private static ApiServer.Settings settings(Optional<String> token) {
        return new ApiServer.Settings(new InetSocketAddress("127.0.0.1", 0), Optional.empty(), token, "small");
    }

    @AfterAll
    static void close() {
        client.close();
        queue.close();
        server.close();
        generation.close();
    }

    private static HttpResponse<String> post(String path, String body) throws Exception {
        return client.send(HttpRequest.newBuilder(URI.create(server.address() + path))
                .header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private static HttpResponse<String> get(String path) throws Exception {
        return client.send(HttpRequest.newBuilder(URI.create(server.address() + path)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private static ObjectNode completion(String more) throws Exception {
        return (ObjectNode) JSON
                .readTree("{\"model\": \"small\", \"prompt\": \"To be\", \"max_tokens\": 6" + more + "}");
    }

    private static ObjectNode chat(String more) throws Exception {
        return (ObjectNode) JSON.readTree("{\"model\": \"small\", \"messages\": [{\"role\": \"user\", \"content\":"
                + " \"To be?\"}], \"max_tokens\": 6" + more + "}");
    }

    private static JsonNode answer(String path, ObjectNode body) throws Exception {
        HttpResponse<String> response = post(path, body.toString());
        assertEquals(200, response.statusCode(), response.body());
        return JSON.readTree(response.body());
    }

    /** The events of a stream, without the last, which is no JSON. */
    private static List<JsonNode> events(String path, ObjectNode body) throws Exception {
        HttpResponse<String> response = post(path, body.put("stream", true).toString());
        assertEquals(200, response.statusCode(), response.body());
        assertEquals("text/event-stream", response.headers().firstValue("Content-Type").orElseThrow());
        List<JsonNode> events = new ArrayList<>();
        List<String> lines = response.body().lines().filter(line -> !line.isEmpty() && !line.startsWith(":")).toList();
        assertEquals("data: [DONE]", lines.getLast());
        for (String line : lines.subList(0, lines.size() - 1)) {
            assertTrue(line.startsWith("data: "), line);
            events.add(JSON.readTree(line.substring("data: ".length())));
        }
        return events;
    }

    private static String generated(String... more) {
        List<String> arguments = new ArrayList<>(
                List.of("generate", "-s", EXACT_ROWS, "-s", "model.from=" + directory, "-s",
                        "data.tokenizer=" + directory, "--tokens", "6"));
        arguments.addAll(List.of(more));
        return Execution.of(arguments).requireDone().output();
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1.3, 7"})
    void shouldContinueAPromptAsGenerateDoes(double temperature, long seed) throws Exception {
        String expected = generated("--prompt", "To be", "--temperature", "" + temperature, "--seed", "" + seed,
                "--top-p", "0.95", "--presence-penalty", "0.5");
        String more = ", \"temperature\": " + temperature + ", \"seed\": " + seed
                + ", \"top_p\": 0.95, \"presence_penalty\": 0.5";
        JsonNode whole = answer("/v1/completions", completion(more));
        JsonNode choice = whole.get("choices").get(0);
        assertEquals(expected, "To be" + choice.get("text").asText() + "\n");
        assertEquals("length", choice.get("finish_reason").asText());
        assertEquals("text_completion", whole.get("object").asText());
        assertEquals(6, whole.get("usage").get("completion_tokens").asInt());
        StringBuilder streamed = new StringBuilder();
        events("/v1/completions", completion(more))
                .forEach(event -> streamed.append(event.get("choices").get(0).get("text").asText()));
        assertEquals(choice.get("text").asText(), streamed.toString());
    }

    @Test
    void shouldAnswerAChatAsGenerateDoes() throws Exception {
        Path chats = Files.writeString(directory.resolve("chats.jsonl"),
                "{\"messages\": [{\"role\": \"user\", \"content\": \"To be?\"}]}\n");
        String expected = JSON.readTree(generated("--prompts", chats.toString(), "--temperature", "0")).get("text")
                .asText();
        JsonNode whole = answer("/v1/chat/completions", chat(", \"temperature\": 0"));
        JsonNode message = whole.get("choices").get(0).get("message");
        assertEquals(expected, message.get("content").asText());
        assertEquals("assistant", message.get("role").asText());
        assertEquals("chat.completion", whole.get("object").asText());
        ObjectNode parts = chat(", \"temperature\": 0");
        ((ObjectNode) parts.get("messages").get(0)).putArray("content").addObject().put("type", "text").put("text",
                "To be?");
        assertEquals(message, answer("/v1/chat/completions", parts).get("choices").get(0).get("message"));
        List<JsonNode> events = events("/v1/chat/completions",
                chat(", \"temperature\": 0, \"stream_options\": {\"include_usage\": true}"));
        assertEquals("assistant", events.getFirst().get("choices").get(0).get("delta").get("role").asText());
        StringBuilder streamed = new StringBuilder();
        events.forEach(event -> streamed.append(event.path("choices").path(0).path("delta").path("content").asText()));
        assertEquals(expected, streamed.toString());
        assertEquals("length", events.get(events.size() - 2).get("choices").get(0).get("finish_reason").asText());
        assertEquals(whole.get("usage"), events.getLast().get("usage"));
    }

    @Test
    void shouldWriteSeveralAnswersWithTheirProbabilities() throws Exception {
        JsonNode whole = answer("/v1/chat/completions",
                chat(", \"n\": 5, \"seed\": 3, \"logprobs\": true, \"top_logprobs\": 2"));
        assertEquals(5, whole.get("choices").size());
        for (int index = 0; index < 5; index++) {
            JsonNode choice = whole.get("choices").get(index);
            JsonNode alone = answer("/v1/chat/completions",
                    chat(", \"seed\": " + (3 + index) + ", \"logprobs\": true, \"top_logprobs\": 2")).get("choices")
                    .get(0);
            assertEquals(index, choice.get("index").asInt());
            assertEquals(alone.get("message"), choice.get("message"));
            assertEquals(alone.get("logprobs"), choice.get("logprobs"));
            assertEquals(6, choice.get("logprobs").get("content").size());
            JsonNode token = choice.get("logprobs").get("content").get(0);
            assertEquals(2, token.get("top_logprobs").size());
            assertTrue(token.get("logprob").asDouble() <= token.get("top_logprobs").get(0).get("logprob").asDouble());
        }
        JsonNode two = answer("/v1/completions", (ObjectNode) JSON.readTree(
                "{\"model\": \"small\", \"prompt\": [\"To be\", \"or not\"], \"max_tokens\": 3, \"logprobs\": 0}"));
        assertEquals(2, two.get("choices").size());
        assertEquals(3, two.get("choices").get(1).get("logprobs").get("token_logprobs").size());
    }

    @Test
    void shouldEndAtAStopText() throws Exception {
        String text = answer("/v1/completions", completion(", \"temperature\": 0")).get("choices").get(0).get("text")
                .asText();
        String stop = text.substring(text.length() / 2, text.length() / 2 + 1);
        ObjectNode body = completion(", \"temperature\": 0");
        body.putArray("stop").add("no such text").add(stop);
        JsonNode choice = answer("/v1/completions", body).get("choices").get(0);
        assertEquals(text.substring(0, text.indexOf(stop)), choice.get("text").asText());
        assertEquals("stop", choice.get("finish_reason").asText());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            [1]                                                        | 400 | JSON object
            {"model": "small", "prompt": "a"                           | 400 | is no JSON
            {"prompt": "a"}                                            | 400 | model is missing
            {"model": "large", "prompt": "a"}                          | 404 | there is no model "large"
            {"model": "small"}                                         | 400 | prompt is missing
            {"model": "small", "prompt": ""}                           | 400 | at least one token
            {"model": "small", "prompt": []}                           | 400 | an empty list
            {"model": "small", "prompt": [999999]}                     | 400 | has the token 999999
            {"model": "small", "prompt": [-1]}                         | 400 | has the token -1
            {"model": "small", "prompt": {"a": 1}}                     | 400 | a string or a list of tokens
            {"model": "small", "prompt": "a", "temperature": -1}       | 400 | temperature
            {"model": "small", "prompt": "a", "temperature": "hot"}    | 400 | temperature must be a number
            {"model": "small", "prompt": "a", "top_p": 2}              | 400 | top-p
            {"model": "small", "prompt": "a", "n": 0}                  | 400 | n must be a whole number from 1
            {"model": "small", "prompt": "a", "stop": [""]}            | 400 | at least one character
            {"model": "small", "prompt": "a", "stream": 1}             | 400 | stream must be true or false
            {"model": "small", "prompt": "a", "max_tokens": 60}        | 400 | more are 61
            {"model": "small", "prompt": "a", "echo": true}            | 400 | echo is not supported
            {"model": "small", "prompt": "a", "logit_bias": {"1": 1}}  | 400 | logit_bias is not supported
            {"model": "small", "prompt": "a", "n": 65}                 | 400 | at most 64 texts, for which
            """)
    void shouldRefuseWithTheErrorObjectOfOpenAi(String body, int status, String part) throws Exception {
        requireError(post("/v1/completions", body), status, part);
    }

    private static JsonNode requireError(HttpResponse<String> response, int status, String part) throws Exception {
        assertEquals(status, response.statusCode(), response.body());
        JsonNode error = JSON.readTree(response.body()).get("error");
        assertTrue(error.get("message").asText().contains(part), response.body());
        assertTrue(error.get("type").isTextual() && error.has("param") && error.has("code"), response.body());
        return error;
    }

    @Test
    void shouldNameWhatProgramsHaveToKnow() throws Exception {
        assertEquals("context_length_exceeded",
                requireError(post("/v1/completions", completion("").put("prompt", "To be ".repeat(60)).toString()), 400,
                        "shorten the prompt").get("code").asText());
        assertEquals("model_not_found", requireError(get("/v1/models/large"), 404, "large").get("code").asText());
        requireError(post("/v1/chat/completions", "{\"model\": \"small\", \"messages\": []}"), 400,
                "at least one message");
        requireError(post("/v1/chat/completions", "{\"model\": \"small\", \"messages\": [{\"content\": \"a\"}]}"), 400,
                "must be an object with a role");
        requireError(get("/v1/completions"), 405, "accepts only POST");
        requireError(get("/v2"), 404, "there is nothing at /v2");
        requireError(post("/v1/completions", " ".repeat((4 << 20) + 1)), 413, "at most 4 MiB");
        HttpRequest.Builder form = HttpRequest.newBuilder(URI.create(server.address() + "/v1/completions"))
                .POST(HttpRequest.BodyPublishers.ofString(completion("").toString()));
        requireError(client.send(form.build(), HttpResponse.BodyHandlers.ofString()), 415, "application/json");
        requireError(client.send(form.header("Origin", "http://example.org").build(),
                HttpResponse.BodyHandlers.ofString()), 403, "pages in a browser");
    }

    @Test
    void shouldReportItsModelAndItsNumbers() throws Exception {
        assertEquals("{\"status\":\"ok\"}", get("/health").body());
        assertEquals("small", JSON.readTree(get("/v1/models").body()).get("data").get(0).get("id").asText());
        assertEquals("model", JSON.readTree(get("/v1/models/small").body()).get("object").asText());
        answer("/v1/completions", completion(""));
        String metrics = get("/metrics").body();
        assertTrue(metrics.contains("# TYPE troupe_generation_tokens_total counter\ntroupe_generation_tokens_total "),
                metrics);
        assertFalse(metrics.contains("troupe_generation_tokens_total 0\n"), metrics);
    }

    @Test
    void shouldRefuseARequestForWhichTheQueueHasNoRoomNow() throws Exception {
        byte[] body = completion(", \"n\": 64, \"stream\": true").put("max_tokens", 50).toString().getBytes(UTF_8);
        try (Socket socket = begun(body)) {
            HttpResponse<String> full = post("/v1/completions", completion(", \"n\": 64").toString());
            assertEquals("queue_full", requireError(full, 429, "send it again later").get("code").asText());
            assertEquals("1", full.headers().firstValue("Retry-After").orElseThrow());
            socket.setSoLinger(true, 0);
        }
        awaitRoom();
        requireError(post("/v1/completions", completion(", \"n\": 22").set("prompt",
                JSON.createArrayNode().add("a").add("b").add("c")).toString()), 400, "but asks for 66");
    }

    /** Sends a request for a stream, and waits for its first event. */
    private static Socket begun(byte[] body) throws IOException {
        Socket socket = new Socket("127.0.0.1", server.address().getPort());
        socket.getOutputStream().write(("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type:"
                + " application/json\r\nContent-Length: " + body.length + "\r\n\r\n").getBytes(UTF_8));
        socket.getOutputStream().write(body);
        BufferedReader lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
        for (String line = lines.readLine(); !line.startsWith("data: "); line = lines.readLine()) {
            assertFalse(line.contains("error"), line);
        }
        return socket;
    }

    private static void awaitRoom() {
        while (queue.counts().active() + queue.counts().waiting() > 0) {
            Thread.onSpinWait(); // bounded by the timeout of the test
        }
    }

    @Test
    void shouldEndTheTextsOfAReaderThatDisconnects() throws Exception {
        byte[] body = completion(", \"n\": 64, \"stream\": true").put("max_tokens", 50).toString().getBytes(UTF_8);
        long before = queue.counts().tokens();
        try (Socket socket = begun(body)) {
            socket.setSoLinger(true, 0);
        }
        awaitRoom();
        assertTrue(queue.counts().tokens() - before < 64 * 50, "all texts were written to the end");
        answer("/v1/completions", completion(""));
    }

    @Test
    void shouldRequireATokenIfItHasOne() throws Exception {
        try (ApiServer guarded = ApiServer.open(settings(Optional.of("secret")), generation, queue, CONTEXT)) {
            HttpRequest.Builder models = HttpRequest.newBuilder(URI.create(guarded.address() + "/v1/models"));
            HttpResponse.BodyHandler<String> text = HttpResponse.BodyHandlers.ofString();
            assertEquals("invalid_api_key", requireError(client.send(models.build(), text), 401, "Bearer").get("code")
                    .asText());
            models.header("Authorization", "Bearer secret");
            assertEquals(200, client.send(models.build(), text).statusCode());
            assertEquals(200,
                    client.send(HttpRequest.newBuilder(URI.create(guarded.address() + "/health")).build(), text)
                            .statusCode());
        }
    }

    @Test
    void shouldServeOverTls() throws Exception {
        TestTls.section(directory);
        Path files = directory.resolve("tls");
        TlsSpec tls = new TlsSpec(files.resolve("127.0.0.1.crt"), files.resolve("127.0.0.1.key"),
                files.resolve("ca.crt"));
        Certificates.requireSound(tls);
        ApiServer.Settings secure = new ApiServer.Settings(new InetSocketAddress("127.0.0.1", 0),
                Optional.of(Certificates.server(tls)), Optional.empty(), "small");
        try (ApiServer guarded = ApiServer.open(secure, generation, queue, CONTEXT);
                HttpClient trusting = HttpClient.newBuilder().sslContext(Certificates.client(tls)).build()) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(guarded.address() + "/v1/completions"))
                    .header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString(completion(", \"stream\": true").toString())).build();
            assertTrue(guarded.address().toString().startsWith("https://"));
            assertTrue(trusting.send(request, HttpResponse.BodyHandlers.ofString()).body().contains("[DONE]"));
        }
    }

    @Test
    void shouldWriteTextsOfManyReadersAtOnce() throws Exception {
        List<String> alone = new ArrayList<>();
        for (int seed = 0; seed < 20; seed++) {
            alone.add(answer("/v1/completions", completion(", \"seed\": " + seed)).get("choices").toString());
        }
        List<String> together = IntStream.range(0, 20).parallel().mapToObj(seed -> {
            try {
                return answer("/v1/completions", completion(", \"seed\": " + seed)).get("choices").toString();
            } catch (Exception failed) {
                throw new IllegalStateException(failed);
            }
        }).toList();
        assertEquals(alone, together);
    }
}
