package dev.troupe.look.output;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.protocol.watch.Notice;
import dev.troupe.run.news.Recovery;
import dev.troupe.run.news.RunNews;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("plan")
class EventsFileTest {
    @TempDir
    private Path directory;

    @Test
    void shouldHaveALineForEachEvent() throws IOException {
        EventsFile file = new EventsFile(directory, trouble -> {
            throw new AssertionError(trouble);
        });
        List.of(new RunNews.Waiting(List.of("b")), new RunNews.Begun(2), new RunNews.Started(0, 4),
                new RunNews.Validated(5, 2.5), new RunNews.CheckpointDone(0, 5, Path.of("step-5")),
                new RunNews.CheckpointFailed(0, 6, "no room"),
                new RunNews.RecoveryBegun(1, 6, List.of(0, 2), "ranks 0 and 2 failed"),
                new RunNews.Recovered(new Recovery(1, 6, List.of(), "a message was lost", 10, 20, 30)),
                new RunNews.Noticed(new Notice(Notice.Kind.STRAGGLER_ENDED, 7, 1, "a", List.of(3), List.of(1), 1.5,
                        "stage 1 is as fast as before")))
                .forEach(file::on);
        file.write("done", 8, "all 8 steps are done");
        assertEquals(List.of(
                "{\"event\":\"started\",\"epoch\":0,\"step\":4,\"sentence\":\"the first step begins\"}",
                "{\"event\":\"checkpoint\",\"epoch\":0,\"step\":5,\"sentence\":\"a checkpoint is complete in step-5\"}",
                "{\"event\":\"checkpoint-failed\",\"epoch\":0,\"step\":6,\"sentence\":\"no room\"}",
                "{\"event\":\"recovery-begins\",\"epoch\":1,\"step\":6,\"ranks\":[0,2],\"sentence\":\"ranks 0 and 2 failed\"}",
                "{\"event\":\"recovery\",\"epoch\":1,\"step\":6,\"sentence\":\"a message was lost\"}",
                "{\"event\":\"straggler-ended\",\"epoch\":1,\"step\":7,\"node\":\"a\",\"ranks\":[3],\"stages\":[1],"
                        + "\"times\":1.5,\"sentence\":\"stage 1 is as fast as before\"}",
                "{\"event\":\"done\",\"epoch\":1,\"step\":8,\"sentence\":\"all 8 steps are done\"}"),
                Files.readAllLines(directory.resolve(EventsFile.FILE)).stream()
                        .map(line -> line.replaceFirst("\"time_ms\":\\d+,", "")).toList());
    }
}
