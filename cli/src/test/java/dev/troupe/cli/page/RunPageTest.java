package dev.troupe.cli.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import dev.troupe.cli.Execution;
import dev.troupe.cli.FreePorts;
import dev.troupe.cli.GatedEngineProvider;
import dev.troupe.cli.GatedEngineProvider.Gate;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.look.page.RunPage;
import dev.troupe.run.http.Answer;
import dev.troupe.run.http.PageServer;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The answers of a run in progress, by its port, and of the same run from its directory, each valid by its schema. */
@Tag("real")
@Timeout(300)
class RunPageTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path SCHEMAS = Path.of("../docs/schema").toAbsolutePath().normalize();

    @TempDir
    private Path directory;

    private static List<String> settings(String... more) {
        List<String> settings = new ArrayList<>(List.of("engine.kind=emulated", "training.steps=30",
                "parallel.pipeline=2", "training.global-batch-size=8", "engine.emulated.forward=2ms"));
        settings.addAll(List.of(more)); // the last of one key wins
        return settings;
    }

    @Test
    void shouldShowTheSameDuringTheRunAndAfterwards() throws Exception {
        Path run = directory.resolve("run");
        int port = FreePorts.find(1).getFirst();
        // After the gate come fewer steps than the queue of the writer of their files holds, so that none is left out.
        Gate gate = new Gate(0, 0, 20, Duration.ofSeconds(4));
        String engine = GatedEngineProvider.emulated(List.of(gate));
        CompletableFuture<Execution> training = CompletableFuture
                .supplyAsync(() -> Execution.train(run, settings(engine, "observe.port=" + port)));
        try (HttpClient client = HttpClient.newHttpClient()) {
            JsonNode live = awaitSteps(client, port, 20, training);
            assertEquals("training", live.path("now").path("state").textValue());
            requireSchema("run.json", live);
            JsonNode first = JSON.readTree(get(client, port, "/troupe/v1/steps").body()).path("steps").path(1);
            requireEvents(client, port);
            HttpResponse<String> meters = get(client, port, "/metrics");
            assertEquals("text/plain; version=0.0.4; charset=utf-8", meters.headers().firstValue("Content-Type").get());
            assertTrue(meters.body().contains("\ntroupe_state{run=\"first-run\",state=\"training\"} 1.0\n"),
                    meters.body());
            assertEquals(405, client.send(HttpRequest.newBuilder(uri(port, "/troupe/v1/run")).DELETE().build(),
                    HttpResponse.BodyHandlers.discarding()).statusCode());
            gate.open();
            training.join().requireDone();
            assertTrue(training.join().output().contains("Page: http://127.0.0.1:" + port + "/"));
            RunPage page = new RunPage(run);
            JsonNode after = require(page, "/troupe/v1/run", "run.json");
            assertEquals("done", after.path("now").path("state").textValue());
            assertEquals(live.path("plan"), after.path("plan"));
            JsonNode steps = require(page, "/troupe/v1/steps", "steps.json");
            assertEquals(30, steps.path("steps").size());
            assertEquals(first.path("time_ms"), steps.path("steps").path(1).path("time_ms"));
            assertEquals(List.of(28, 29), numbers(page.routes().answer("/troupe/v1/steps", "after=27")));
            JsonNode step = require(page, "/troupe/v1/steps/29", "step.json");
            assertEquals(steps.path("steps").path(29).path("planned_ns"), step.path("planned_ns"));
            problem(page, 404, "/troupe/v1/steps/30", "30 steps are done");
            JsonNode edges = require(page, "/troupe/v1/edges", "edges.json");
            assertEquals(20, edges.path("steps").intValue());
            // Four activations and the sum of a table's gradient there, four gradients and the same back.
            assertEquals(List.of(100, 100), List.of(edges.path("edges").path(0).path("messages").intValue(),
                    edges.path("edges").path(1).path("messages").intValue()));
            requireDrawing(step, require(page, "/troupe/v1/steps/29?form=drawing", "step-drawing.json"));
            assertEquals(step.path("messages"), JSON.readTree(ask(page, "/troupe/v1/steps/29?form=messages").body())
                    .path("messages"));
            problem(page, 400, "/troupe/v1/steps/29?form=none", "drawing or messages");
            requireWhatIf(page);
            RunPage twice = new RunPage(run, Optional.of(run));
            JsonNode same = require(twice, "/troupe/v1/compare", "compare.json");
            assertEquals(27, same.path("pairs").intValue());
            assertTrue(same.path("runs").path(0).textValue().startsWith(run.getFileName() + ": "), same::toString);
            assertEquals("[1.0,1.0]",
                    "[" + same.path("ratio").path("low") + "," + same.path("ratio").path("high") + "]");
            assertFalse(same.has("first_different_step"));
            problem(page, 404, "/troupe/v1/compare", "troupe page RUN OTHER");
            Path other = Files.createDirectory(directory.resolve("other"));
            Files.writeString(other.resolve("run.json"), "{\"schema\":1,\"name\":\"other\",\"tokens_per_step\":7}");
            problem(new RunPage(run, Optional.of(other)), 409, "/troupe/v1/compare", "tokens_per_step is 1024");
            Files.writeString(other.resolve("run.json"), "{\"schema\":1,\"name\":\"other\",\"tokens_per_step\":1024,"
                    + "\"parameters\":7,\"engine\":\"reference\",\"plan\":{\"name\":\"zbv\"}}");
            problem(new RunPage(run, Optional.of(other)), 409, "/troupe/v1/compare",
                    " and 7 in other: other (zbv)");
            Files.writeString(other.resolve("run.json"), "{\"schema\":1,\"name\":\"other\",\"tokens_per_step\":1024}");
            problem(new RunPage(run, Optional.of(other)), 409, "/troupe/v1/compare", " and not recorded in other: ");
            JsonNode memory = require(page, "/troupe/v1/memory", "memory.json");
            assertEquals(2, memory.path("ranks").size());
            assertTrue(memory.path("process").path("resident_bytes").longValue() > 1 << 20);
        }
    }

    /** The same actions and as much idle time as the step has, in less than half of its bytes. */
    private static void requireDrawing(JsonNode step, JsonNode drawing) {
        assertTrue(drawing.toString().length() < step.toString().length() / 2);
        assertEquals(step.path("idle_ns"), drawing.path("idle_ns"));
        for (int rank = 0; rank < 2; rank++) {
            JsonNode whole = step.path("ranks").path(rank);
            JsonNode drawn = drawing.path("ranks").path(rank);
            for (int place = 0; place < whole.path("actions").size(); place++) {
                JsonNode action = whole.path("actions").path(place);
                assertEquals(action.path("action"), drawn.path("actions").path(place));
                assertEquals(action.path("end_ns"), drawn.path("times_ns").path(4 * place + 1));
            }
            long idle = whole.path("idle_ns").valueStream().mapToLong(JsonNode::longValue).sum();
            long parts = drawn.path("gaps").valueStream().flatMap(gap -> gap.valueStream().skip(4))
                    .mapToLong(part -> part.path(1).longValue()).sum();
            assertEquals(idle, parts);
        }
    }

    private static void requireWhatIf(RunPage page) throws IOException {
        JsonNode same = require(page, "/troupe/v1/whatif", "whatif.json");
        assertEquals(same.path("planned_ns"), same.path("changed_ns"));
        JsonNode slow = require(page, "/troupe/v1/whatif?stage=1&factor=3", "whatif.json");
        assertTrue(slow.path("ratio").doubleValue() > 1.5, slow.toString());
        assertTrue(require(page, "/troupe/v1/whatif?schedule=gpipe&hop_us=5000", "whatif.json").path("ratio")
                .doubleValue() > 1.1);
        problem(page, 400, "/troupe/v1/whatif?schedule=none", "1f1b");
        problem(page, 400, "/troupe/v1/whatif?stage=2", "from 0 to 1");
        problem(page, 400, "/troupe/v1/whatif?schedule=zbv", "not defined");
    }

    @Test
    void shouldExplainThatOverlappingStepsHaveNoWhatIf() throws Exception {
        Path run = directory.resolve("overlapping");
        Execution.train(run, settings("parallel.schedule=pipedream-2bw", "training.steps=8")).requireDone();
        RunPage page = new RunPage(run);
        problem(page, 404, "/troupe/v1/whatif", "The steps of pipedream-2bw overlap");
        problem(page, 404, "/troupe/v1/whatif?schedule=1f1b", "The steps of pipedream-2bw overlap");
    }

    private static JsonNode awaitSteps(HttpClient client, int port, int steps, CompletableFuture<Execution> training)
            throws Exception {
        while (true) {
            assertFalse(training.isDone(), () -> training.join().errors());
            try {
                HttpResponse<String> answer = get(client, port, "/troupe/v1/run");
                JsonNode run = JSON.readTree(answer.body());
                if (answer.statusCode() == 200 && run.path("now").path("steps_done").intValue() >= steps) {
                    return run;
                }
                assertTrue(answer.statusCode() == 200 || answer.statusCode() == 503, answer.body());
            } catch (ConnectException _) {
                // the port is not open yet; the test's own time is the bound
            }
            LockSupport.parkNanos(10_000_000);
        }
    }

    private void requireEvents(HttpClient client, int port) throws Exception {
        try (var lines = client.send(HttpRequest.newBuilder(uri(port, RunPage.EVENTS)).build(),
                HttpResponse.BodyHandlers.ofLines()).body()) {
            Set<String> missing = new HashSet<>(Set.of("event", "step", "now"));
            for (Iterator<String> each = lines.iterator(); !missing.isEmpty();) {
                String name = each.next().replaceFirst("^event: ", "");
                String data = each.next().replaceFirst("^data: ", "");
                each.next();
                requireSchema(switch (name) {
                    case "event" -> "event.json";
                    case "step" -> "steps.json#/$defs/step";
                    default -> "run.json#/$defs/now";
                }, JSON.readTree(data));
                missing.remove(name);
            }
        }
    }

    @Test
    void shouldExplainAMissingAnswer() throws IOException {
        RunPage page = new RunPage(directory);
        problem(page, 503, "/troupe/v1/run", "has not begun");
        problem(page, 404, "/troupe/v1/steps/7", "0 steps are done");
        problem(page, 404, "/troupe/v1/nothing", "/troupe/v1/run");
        problem(page, 400, "/troupe/v1/stack", "rank=2");
        problem(page, 404, "/troupe/v1/stack?rank=1", "has hung");
        problem(page, 400, "/troupe/v1/steps?after=yesterday", "yesterday");
        Files.createDirectory(directory.resolve("steps"));
        Files.writeString(directory.resolve("steps/000007.json"), "{\"schema\":2,\"step\":7}");
        Files.writeString(directory.resolve("run.json"), "{\"schema\":2}");
        problem(page, 409, "/troupe/v1/steps/7", "version 2");
        problem(page, 409, "/troupe/v1/run", "version 2");
        Files.writeString(directory.resolve("hang-step-3-epoch-1.txt"), """
                rank 1 hangs in 1B2

                rank 0 is waiting for 0RECV_B2; it has not moved for 2.0 s
                rank 1 is in 1B2; it has not moved for 2.1 s <-- hangs

                the thread of rank 1 is at
                  a.b.C.d(C.java:3)
                  a.b.C.e(C.java:9)
                """);
        JsonNode stack = require(page, "/troupe/v1/stack?rank=1", "stack.json");
        assertEquals("[\"a.b.C.d(C.java:3)\",\"a.b.C.e(C.java:9)\"]", stack.path("stack").toString());
        assertTrue(stack.path("situation").textValue().startsWith("rank 1 is in 1B2"));
    }

    @Test
    void shouldRefuseAPortInUseBeforeTheRunBegins() {
        Path run = directory.resolve("run");
        RunPage page = new RunPage(directory);
        try (PageServer taken = PageServer.open(0, "--port", page.routes())) {
            Execution refused = Execution.train(run, settings("observe.port=" + taken.address().getPort()));
            assertEquals(ExitCode.WRONG_REQUEST, refused.exitCode());
            assertEquals(1, refused.errors().lines().count(), refused.errors());
            assertTrue(refused.errors().contains("choose another with observe.port"), refused.errors());
            assertFalse(Files.exists(run));
        }
    }

    /** A page of another site with a name that resolves to this machine has that name in the request. */
    @Test
    void shouldAnswerUnderTheNamesOfTheLoopbackAlone() throws Exception {
        RunPage page = new RunPage(directory);
        try (PageServer server = PageServer.open(0, "--port", page.routes());
                Socket socket = new Socket("127.0.0.1", server.address().getPort())) {
            socket.getOutputStream().write("GET /troupe/v1/run HTTP/1.1\r\nHost: evil.example\r\n\r\n".getBytes());
            byte[] begin = socket.getInputStream().readNBytes("HTTP/1.1 403".length());
            assertEquals("HTTP/1.1 403", new String(begin));
        }
    }

    private static URI uri(int port, String path) {
        return URI.create("http://127.0.0.1:" + port + path);
    }

    private static HttpResponse<String> get(HttpClient client, int port, String path)
            throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(uri(port, path)).build(), HttpResponse.BodyHandlers.ofString());
    }

    private static List<Integer> numbers(Answer answer) throws IOException {
        List<Integer> numbers = new ArrayList<>();
        JSON.readTree(answer.body()).path("steps").forEach(step -> numbers.add(step.path("step").intValue()));
        return numbers;
    }

    private static Answer ask(RunPage page, String address) {
        String[] parts = address.split("\\?", 2);
        return page.routes().answer(parts[0], parts.length == 1 ? null : parts[1]);
    }

    private static JsonNode require(RunPage page, String address, String schema) throws IOException {
        Answer answer = ask(page, address);
        assertEquals(200, answer.status(), new String(answer.body()));
        JsonNode object = JSON.readTree(answer.body());
        requireSchema(schema, object);
        return object;
    }

    private static void problem(RunPage page, int status, String address, String part) throws IOException {
        Answer answer = ask(page, address);
        JsonNode problem = JSON.readTree(answer.body());
        assertEquals(status, answer.status(), problem.toString());
        requireSchema("problem.json", problem);
        assertTrue(problem.path("problem").textValue().contains(part), problem.toString());
    }

    private static void requireSchema(String file, JsonNode object) {
        assertEquals(Set.of(), JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012)
                .getSchema(URI.create(SCHEMAS.toUri() + file)).validate(object), file + " of " + object);
    }
}
