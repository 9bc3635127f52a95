package dev.troupe.cli.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.troupe.cli.Execution;
import dev.troupe.cli.Golden;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
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
        assertEquals(IntStream.range(2, 12).mapToObj(step -> "step " + step).toList(),
                events.stream().filter(event -> event.path("name").textValue().equals("process_name"))
                        .map(event -> event.path("args").path("name").textValue()).toList());
        List<String> slices = events.stream().filter(event -> event.path("ph").textValue().equals("X"))
                .filter(event -> event.path("pid").intValue() == 0).map(event -> event.path("name").textValue())
                .sorted().toList();
        List<String> ofEachStage = List.of("B0", "B1", "F0", "F1", "NORM", "RECV_SHARED", "SEND_SHARED", "SNAPSHOT",
                "UPDATE");
        assertEquals(IntStream.range(0, 2).boxed()
                .flatMap(stage -> ofEachStage.stream().map(action -> stage + action)).toList(), slices);
        // The stage that failed computed its forwards again.
        assertEquals(2, events.stream().filter(event -> event.path("pid").intValue() == 9)
                .filter(event -> event.path("name").textValue().equals("1F0")).count());
    }
}
