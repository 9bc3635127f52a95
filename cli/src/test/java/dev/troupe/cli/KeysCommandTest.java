package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.cli.report.Terminal;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.config.Key;
import dev.troupe.config.Keys;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.schedule.family.Schedules;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("runtime")
final class KeysCommandTest {
    @Test
    void shouldListTheKeysOfASection() {
        Door door = Door.call("keys", "training.optimizer");
        assertEquals(List.of("training.optimizer.kind = adamw", "training.optimizer.betas = [0.9, 0.95]",
                "training.optimizer.epsilon = 1e-8", "training.optimizer.weight-decay = 0.1",
                "training.optimizer.momentum = 0", "training.optimizer.nesterov = false",
                "training.optimizer.error-feedback = false"),
                door.output().lines().filter(line -> !line.startsWith(" ")).toList());
        assertEquals(ExitCode.DONE, door.exitCode());
    }

    @Test
    void shouldDescribeAKey() {
        assertEquals(
                "training.optimizer.momentum = 0 Decay of the velocity. 0: no velocity for sgd, 0.95 for muon. Value: a"
                        + " finite number of at least 0 and below 1. Only if training.optimizer.kind is sgd or muon.",
                Door.call("keys", "training.optimizer.momentum").output().strip().replaceAll("\\s+", " "));
        assertTrue(Door.call("keys", "data.cache").output().strip().replaceAll("\\s+", " ")
                .endsWith("Value: auto, none or a folder. Nodes may differ."));
    }

    /** The module of the configuration knows no names of schedules, families and engines. */
    @Test
    void shouldNameValuesThatExistInConditions() {
        List<String> engines = List.of("auto", "cpu", "cuda", "emulated", "nd4j", "reference");
        Map<String, Predicate<String>> known = Map.of("model.family", ModelFamilies.names()::contains, "engine.kind",
                engines::contains, "parallel.schedule",
                Schedules.ofTraining()::contains);
        for (Key key : new Keys().all()) {
            key.only().forEach((other, values) -> assertTrue(
                    values.stream().allMatch(known.getOrDefault(other, _ -> true)), key.path() + " names " + values));
        }
    }

    @Test
    void shouldFitTheTerminal() {
        Terminal narrow = new Terminal(true, OptionalInt.of(60), false);
        List<String> lines = KeysCommand.text(new Keys().all(), narrow).lines().toList();
        assertTrue(lines.stream().allMatch(line -> line.length() <= 60), () -> lines.stream()
                .filter(line -> line.length() > 60).toList().toString());
    }

    @Test
    void shouldListTheSameForPrograms() throws Exception {
        JsonNode keys = new JsonMapper().readTree(Door.call("keys", "--format", "json").output());
        assertEquals(new Keys().all().size(), keys.size());
        for (JsonNode key : keys) {
            switch (key.path("key").asText()) {
                case "training.steps" -> assertEquals(300, key.path("default").intValue());
                case "parallel.schedule" -> {
                    assertEquals("1f1b", key.path("default").textValue());
                    assertEquals(Schedules.ofTraining(),
                            new JsonMapper().convertValue(key.path("choices"), List.class));
                }
                default -> assertTrue(key.has("default") && key.has("reason") && key.has("accepts"), key.toString());
            }
        }
    }

    @Test
    void shouldNameTheNearestKeyIfNoneHasThePrefix() {
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
