package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.cli.report.Terminal;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.config.Keys;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("runtime")
final class KeysCommandTest {
    @Test
    void shouldListTheKeysOfASectionWithDefaultAndReason() {
        Door door = Door.call("keys", "training.optimizer");
        assertEquals("""
                training.optimizer.kind = adamw
                    adamw | sgd | muon (of hidden matrices; AdamW of the others).
                training.optimizer.betas = [0.9, 0.95]
                    Of AdamW, as GPT-3 was trained: 0.95 forgets an outlier sooner than 0.999.
                training.optimizer.epsilon = 1e-8
                    Of AdamW.
                training.optimizer.weight-decay = 0.1
                    On tensors of two or more dimensions only.
                training.optimizer.momentum = 0
                    Of the velocity of sgd and muon. 0: of sgd no velocity, of muon 0.95.
                training.optimizer.nesterov = false
                    Of sgd with momentum: whether an update looks a step ahead (Nesterov).
                training.optimizer.error-feedback = false
                    Under pipedream-2bw: an update also corrects the error of its delay.
                """, door.output());
        assertEquals(ExitCode.DONE, door.exitCode());
    }

    @Test
    void shouldFitTheTerminal() {
        Terminal narrow = new Terminal(true, OptionalInt.of(60), false);
        List<String> lines = KeysCommand.text(new Keys().all(), narrow).lines().toList();
        assertTrue(lines.stream().allMatch(line -> line.length() <= 60), () -> lines.stream()
                .filter(line -> line.length() > 60).toList().toString());
    }

    @Test
    void shouldTellAProgramTheSame() throws Exception {
        JsonNode keys = new JsonMapper().readTree(Door.call("keys", "--format", "json").output());
        assertEquals(new Keys().all().size(), keys.size());
        for (JsonNode key : keys) {
            switch (key.path("key").asText()) {
                case "training.steps" -> assertEquals(300, key.path("default").intValue());
                case "parallel.schedule" -> {
                    assertEquals("1f1b", key.path("default").textValue());
                    assertTrue(key.path("choices").toString().contains("zbv"), key.toString());
                }
                default -> assertTrue(key.has("default") && key.has("reason"), key.toString());
            }
        }
    }

    @Test
    void shouldNameTheNearestKeyWhereNoneBeginsSo() {
        Door door = Door.call("keys", "training.stepz");
        assertEquals(ExitCode.WRONG_REQUEST, door.exitCode());
        assertTrue(door.refusal().contains("did you mean training.steps?"), door.refusal());
    }

    @ParameterizedTest
    @CsvSource({"train --steps 5,-s training.steps=5", "train --lr=1e-3,-s training.learning-rate.peak=1e-3",
            "launch --schedule 1f1b x.conf,-s parallel.schedule=1f1b or -s training.learning-rate.schedule=1f1b",
            "compare --schedules gpipe --batch-size 8,-s training.global-batch-size=8"})
    void shouldPointFromAnOptionOfOtherTrainersToTheKey(String line, String setting) {
        Door door = Door.call(line.split(" "));
        assertEquals(ExitCode.WRONG_REQUEST, door.exitCode());
        assertTrue(door.refusal().startsWith("troupe: there is no option --"), door.refusal());
        assertTrue(door.refusal().contains(setting + ";"), door.refusal());
    }
}
