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
import java.util.Map;
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
    void shouldDescribeEachKey() {
        assertEquals(new Key("training.optimizer.kind", "adamw",
                "adamw | sgd | muon (of hidden matrices; AdamW of the others).", "adamw or sgd or muon",
                List.of("adamw", "sgd", "muon"), Map.of(), false), only("training.optimizer.kind"));
        assertEquals("1e-8", only("training.optimizer.epsilon").standard());
        Key betas = only("training.optimizer.betas");
        assertEquals("[0.9, 0.95]", betas.standard());
        assertTrue(betas.reason().endsWith("0.95 forgets an outlier sooner than 0.999."), betas.reason());
        assertEquals("two numbers, each of at least 0 and below 1, such as [0.9, 0.95]", betas.accepts());
        assertEquals(Map.of("training.optimizer.kind", List.of("adamw", "muon")), betas.only());
        assertEquals(List.of("true", "false"), only("recovery.enabled").choices());
        assertEquals(List.of(), only("training.steps").choices());
        assertEquals("a whole number from 0 to 3", only("training.zero").accepts());
    }

    @Test
    void shouldGiveTheTagsOfASectionToItsKeys() {
        Key recompute = only("engine.emulated.recompute");
        assertTrue(recompute.differs());
        assertEquals(Map.of("engine.kind", List.of("emulated"), "training.recompute", List.of("full")),
                recompute.only());
        assertEquals(Set.of("data.cache", "data.path", "data.tokenizer", "data.validation-path", "model.adapter",
                "model.from", "offload.directory", "transport.directory"),
                keys.differing().stream().filter(key -> !key.startsWith("engine.") && !key.startsWith("cluster.tls."))
                        .collect(Collectors.toSet()));
    }

    @Test
    void shouldNameKeysAndValuesThatExistInConditions() {
        for (Key key : keys.all()) {
            key.only().forEach((other, values) -> {
                Key condition = only(other);
                assertEquals(other, condition.path(), key.path());
                assertTrue(condition.choices().isEmpty() || condition.choices().containsAll(values), key.path());
            });
        }
    }

    @Test
    void shouldDescribeTheValuesOfEveryKey() {
        assertEquals(List.of(), keys.all().stream().filter(key -> key.accepts().isBlank()).toList());
        assertEquals(List.of(), keys.all().stream().filter(key -> key.reason().isBlank()).map(Key::path).toList());
    }

    @Test
    void shouldListTheKeysOfASectionInTheOrderOfTheFile() {
        List<String> names = keys.startingWith("model").stream().map(Key::name).toList();
        assertEquals(
                List.of("family", "from", "adapter", "layers", "hidden", "heads", "sequence-length", "vocabulary-size",
                        "tie-embeddings", "key-value-heads", "head-size", "inner", "rotary-base", "experts",
                        "experts-per-token", "expert-inner", "shared-experts", "first-dense-blocks",
                        "expert-groups", "expert-groups-per-token", "routed-scaling-factor",
                        "partial-rotary-factor", "auxiliary-loss", "router-z-loss", "bias-update-rate",
                        "capacity-factor", "random-second-expert", "norm-epsilon"),
                names);
        assertEquals("name", keys.all().getFirst().path());
        assertTrue(keys.startingWith("cluster.nodes[]").stream().anyMatch(key -> key.name().equals("data-port")));
        assertEquals(keys.startingWith("training.learning-rate"), keys.startingWith("troupe.training.learning-rate"));
    }

    /** The file itself is read by another reader here: a line {@code key = value}, in braces that lines open and close. */
    @Test
    void shouldListEveryKeyOfTheDefaults() throws IOException {
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
    void shouldListTheKeysOfANode(String prefix) {
        assertEquals(
                List.of("engine", "threads", "device", "emulated-speed", "name", "host", "control-port", "data-port",
                        "management-port", "ranks", "standby"),
                keys.startingWith(prefix).stream().map(Key::name).toList());
        for (String key : List.of(prefix + ".data-port", "cluster.nodes.data-port")) {
            assertEquals(List.of("cluster.nodes[].data-port"), keys.startingWith(key).stream().map(Key::path).toList());
        }
        ConfigException refused = assertThrows(ConfigException.class, () -> keys.startingWith(prefix + ".hots"));
        assertTrue(refused.getMessage().endsWith("did you mean host?"), refused.getMessage());
    }

    @Test
    void shouldNameTheNearestKeyIfNoneHasThePrefix() {
        ConfigException refused = assertThrows(ConfigException.class, () -> keys.startingWith("trainig.steps"));
        assertTrue(refused.getMessage().contains("did you mean training.steps?"), refused.getMessage());
    }

    @Test
    void shouldTranslateOptionsOfOtherTrainers() {
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
