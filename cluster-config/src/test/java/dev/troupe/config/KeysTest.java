package dev.troupe.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.problem.ConfigException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("plan")
final class KeysTest {
    private final Keys keys = new Keys();

    @Test
    void shouldTellEachKeyWithItsDefaultItsReasonAndItsChoices() {
        assertEquals(new Key("training.optimizer.kind", "adamw",
                "adamw | sgd | muon (of hidden matrices; AdamW of the others).",
                List.of("adamw", "sgd", "muon")), only("training.optimizer.kind"));
        assertEquals("1e-8", only("training.optimizer.epsilon").standard());
        Key betas = only("training.optimizer.betas");
        assertEquals("[0.9, 0.95]", betas.standard());
        assertTrue(betas.reason().startsWith("Of AdamW, as GPT-3"), betas.reason());
        assertEquals(List.of("true", "false"), only("recovery.enabled").choices());
        assertEquals(List.of(), only("training.steps").choices());
    }

    @Test
    void shouldTellTheKeysOfASectionInTheOrderOfTheFile() {
        List<String> names = keys.startingWith("model").stream().map(Key::name).toList();
        assertEquals(
                List.of("family", "from", "adapter", "layers", "hidden", "heads", "sequence-length", "vocabulary-size",
                        "tie-embeddings", "key-value-heads", "head-size", "inner", "rotary-base", "norm-epsilon"),
                names);
        assertEquals("name", keys.all().getFirst().path());
        assertTrue(keys.startingWith("cluster.nodes[]").stream().anyMatch(key -> key.name().equals("data-port")));
        assertEquals(keys.startingWith("training.learning-rate"), keys.startingWith("troupe.training.learning-rate"));
    }

    /** The file itself is read by another reader here: a line {@code key = value}, in braces that lines open and close. */
    @Test
    void shouldTellEveryKeyOfTheDefaults() throws IOException {
        Set<String> found = new TreeSet<>();
        Deque<String> sections = new ArrayDeque<>();
        for (String line : Files.readAllLines(Path.of("src/main/resources/dev/troupe/config/troupe-defaults.conf"))) {
            String text = line.strip();
            if (text.endsWith("{")) {
                sections.addLast(text.substring(0, text.length() - 1).strip());
            } else if (text.equals("}")) {
                sections.removeLast();
            } else if (!text.isEmpty() && !text.startsWith("#")) {
                found.add(String.join(".", sections) + "." + text.substring(0, text.indexOf('=')).strip());
            }
        }
        assertEquals(found, keys.all().stream().map(Key::path)
                .map(path -> "troupe." + path).map(path -> path.replace("troupe.cluster.nodes[]", "troupe-node"))
                .collect(Collectors.toCollection(TreeSet::new)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"troupe-node", "cluster.nodes[]", "cluster.nodes[3]", "troupe.cluster.nodes[0]"})
    void shouldTellTheKeysOfANode(String prefix) {
        assertEquals(List.of("engine", "threads", "device", "name", "host", "control-port", "data-port",
                "management-port", "ranks", "standby"), keys.startingWith(prefix).stream().map(Key::name).toList());
        for (String key : List.of(prefix + ".data-port", "cluster.nodes.data-port")) {
            assertEquals(List.of("cluster.nodes[].data-port"), keys.startingWith(key).stream().map(Key::path).toList());
        }
        ConfigException refused = assertThrows(ConfigException.class, () -> keys.startingWith(prefix + ".hots"));
        assertTrue(refused.getMessage().endsWith("did you mean host?"), refused.getMessage());
    }

    @Test
    void shouldNameTheNearestWhereNothingBeginsSo() {
        ConfigException refused = assertThrows(ConfigException.class, () -> keys.startingWith("trainig.steps"));
        assertTrue(refused.getMessage().contains("did you mean training.steps?"), refused.getMessage());
    }

    @Test
    void shouldKnowWhatAnOptionOfAnotherTrainerMeans() {
        assertEquals(List.of("parallel.schedule", "training.learning-rate.schedule"),
                keys.named("schedule").stream().map(Key::path).sorted().toList());
        assertEquals("training.learning-rate.peak", keys.named("lr").getFirst().path());
        assertEquals("training.global-batch-size", keys.named("batch_size").getFirst().path());
        assertEquals("training.steps", keys.named("step").getFirst().path());
        assertEquals(List.of(), keys.named("no-such-option"));
    }

    private Key only(String path) {
        return keys.startingWith(path).getFirst();
    }
}
