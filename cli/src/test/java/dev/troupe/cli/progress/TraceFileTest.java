package dev.troupe.cli.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import dev.troupe.cli.Execution;
import dev.troupe.cli.Golden;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("real")
@Timeout(120)
class TraceFileTest {
    @TempDir
    private Path directory;

    @Test
    void shouldHoldEveryActionOfTheNewestStepsAndTheStepsThatARecoveryRepeats() throws IOException {
        Path run = directory.resolve("run");
        List<String> settings = Golden.named(Golden.TIED).settings("engine.kind=reference", "training.steps=12",
                "parallel.pipeline=2", "parallel.schedule=gpipe", "training.microbatch-size=4",
                "faults=[\"exception stage=1 step=11 microbatch=1 at=B\"]");
        Execution.train(run, settings).requireDone();
        List<JsonNode> events = StreamSupport.stream(
                new ObjectMapper().readTree(run.resolve("trace.json").toFile()).path("traceEvents").spliterator(),
                false)
                .toList();
        List<JsonNode> actions = events.stream().filter(event -> event.path("cat").textValue() != null)
                .filter(event -> event.path("ph").textValue().equals("X") && event.path("tid").intValue() == 0)
                .toList();
        assertEquals(IntStream.range(2, 12).boxed().toList(),
                actions.stream().map(event -> event.path("args").path("step").intValue()).distinct().sorted().toList());
        List<String> ofEachStage = List.of("B0", "B1", "F0", "F1", "NORM", "RECV_SHARED", "SEND_SHARED", "SNAPSHOT",
                "UPDATE");
        assertEquals(
                IntStream.range(0, 2).boxed().flatMap(stage -> ofEachStage.stream().map(action -> stage + action))
                        .toList(),
                actions.stream().filter(event -> event.path("args").path("step").intValue() == 11)
                        .map(event -> event.path("name").textValue()).sorted().toList());
        // Two activations, two gradients and both gradients of the table, in each of ten steps.
        assertEquals(60, events.stream().filter(event -> event.path("ph").textValue().equals("s")).count());
        JsonNode last = new ObjectMapper().readTree(run.resolve("steps/000011.json").toFile());
        assertEquals(Set.of(), JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012)
                .getSchema(Files.readString(Path.of("../docs/schema/step.json"))).validate(last));
        assertEquals("recovery", last.path("tags").path(0).textValue());
        assertEquals(6, last.path("messages").size());
        long sent = 0;
        for (JsonNode message : last.path("messages")) {
            sent += message.path("bytes").longValue();
        }
        String line = Files.readAllLines(run.resolve("metrics.jsonl")).getLast();
        assertEquals(new ObjectMapper().readTree(line).path("bytes_sent").path("pipeline").longValue(), sent);
        long idle = 0;
        long computed = 0;
        for (JsonNode rank : last.path("ranks")) {
            for (JsonNode cause : rank.path("idle_ns")) {
                idle += cause.longValue();
            }
            for (JsonNode action : rank.path("actions")) {
                computed += action.path("end_ns").longValue() - action.path("start_ns").longValue();
            }
            for (JsonNode gap : rank.path("gaps")) { // inside an action a rank may wait too
                computed -= gap.path("inside").asBoolean() ? gap.path("ns").longValue() : 0;
            }
        }
        assertEquals(2 * last.path("end_ns").longValue(), idle + computed, 0.01 * (idle + computed));
    }

    /** Step 9 was trained after the checkpoint: a resume removes its file. */
    @Test
    void shouldHaveOnlyTheStepsAfterAResume() throws IOException {
        Path run = directory.resolve("run");
        Execution.train(run, Golden.named(Golden.TIED).settings("engine.kind=reference", "training.steps=3",
                "parallel.pipeline=2", "training.microbatch-size=4")).requireDone();
        Path steps = run.resolve("steps");
        Files.copy(steps.resolve("000002.json"), steps.resolve("000009.json"));
        Execution.resume(run, "-s", "training.steps=5").requireDone();
        try (Stream<Path> files = Files.list(steps)) {
            assertEquals(IntStream.range(0, 5).mapToObj(step -> "00000" + step + ".json").toList(),
                    files.map(file -> file.getFileName().toString()).sorted().toList());
        }
    }
}
