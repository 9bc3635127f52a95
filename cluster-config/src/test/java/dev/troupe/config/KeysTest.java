package dev.troupe.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.problem.ConfigException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

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
