package dev.troupe.cli.bits;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.troupe.cli.Execution;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("real")
@Timeout(120)
class LossSpikeTest {
    private static final int LENGTH = 16;
    private static final int BATCH = 4;

    @TempDir
    private Path directory;

    /** One sequence of a text that repeats itself is noise. */
    @Test
    void shouldNameTheMicrobatchAndThePlaceInTheData() throws IOException {
        int step = 32;
        int sequence = 2;
        StringBuilder text = new StringBuilder("abcdefgh".repeat(600));
        int position = (step * BATCH + sequence) * LENGTH;
        Random random = new Random(5);
        for (int at = position; at < position + LENGTH; at++) {
            text.setCharAt(at, (char) ('i' + random.nextInt(18)));
        }
        Path run = directory.resolve("run");
        Execution.train(run, List.of("engine.kind=reference", "parallel.pipeline=2", "model.layers=2",
                "model.hidden=16", "model.heads=2", "model.sequence-length=" + LENGTH,
                "data.path=" + Files.writeString(directory.resolve("text.txt"), text), "data.order=sequential",
                "training.steps=" + (step + 3), "training.global-batch-size=" + BATCH, "training.microbatch-size=1",
                "training.learning-rate.peak=0.02", "training.validate-every=0")).requireDone();
        List<JsonNode> spikes = new ArrayList<>();
        for (String line : Files.readAllLines(run.resolve("events.jsonl"))) {
            JsonNode event = new ObjectMapper().readTree(line);
            if (event.path("event").textValue().equals("loss-spike")) {
                spikes.add(event);
            }
        }
        assertEquals(1, spikes.size(), spikes::toString);
        String sentence = spikes.getFirst().path("sentence").textValue();
        assertTrue(sentence.matches("the loss of step " + step
                + " is [\\d.]+, the median of the steps before it [\\d.]+:"
                + " it is highest, [\\d.]+, in F of layer 5 \\(head\\) on stage 1, microbatch " + sequence
                + " of the step, with sequences at " + position
                + " of the data; the gradient of \\S+ on stage [01] has grown most, to [\\d.e+]+ times its usual norm"),
                sentence);
        assertEquals(step + 1, spikes.getFirst().path("step").intValue());
        assertTrue(spikes.getFirst().path("times").doubleValue() > 1.25);
    }
}
