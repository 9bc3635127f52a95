package dev.troupe.plan.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.checkpoint.CheckpointPart;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every field of a manifest with values of every other kind. */
class ManifestTest {
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();
    private static final List<String> VALUES = List.of("null", "true", "-1", "0", "1.5", "\"x\"", "\"\"",
            "\"\\u0000\"", "2147483647", "2147483648", "9223372036854775807", "9223372036854775808", "1e400", "[]",
            "{}", "[null]", "[-1]", "{\"a\": null}", "\"" + "x".repeat(2000) + "\"", "[".repeat(500) + "]".repeat(500));
    /** Names of classes, and words of the libraries for programmers. */
    private static final Pattern FOREIGN = Pattern
            .compile(
                    "`|com\\.|java\\.|dev\\.troupe|Exception|START_|VALUE_|creator|coerce|reference chain|out of bounds");

    @TempDir
    private Path run;
    private Path directory;
    private Path file;
    private JsonNode sound;

    @BeforeEach
    void write() throws IOException {
        CheckpointStore store = new CheckpointStore(run, CheckpointSamples.MODEL, "large=onednn", 0, 0)
                .ofReplicas(List.of(2, 1));
        List<CheckpointPart> parts = List.of(store.writePart(20, 0, CheckpointSamples.tensors(0, 1)),
                store.writePart(20, 1, CheckpointSamples.tensors(1, 1)));
        directory = store.commit(20, new LossScale(LossScale.Rule.DYNAMIC, 1 << 15, 3, 0, 17), parts);
        file = directory.resolve(Manifest.FILE);
        sound = JSON.readTree(file.toFile());
    }

    /** The fields and containers of a document, as pointers. */
    private static List<String> places(JsonNode node, String place) {
        List<String> places = new ArrayList<>(List.of(place));
        node.properties().forEach(entry -> places.addAll(places(entry.getValue(), place + "/" + entry.getKey())));
        for (int i = 0; node.isArray() && i < node.size(); i++) {
            places.addAll(places(node.get(i), place + "/" + i));
        }
        return places;
    }

    private JsonNode with(String place, JsonNode value) {
        if (place.isEmpty()) {
            return value;
        }
        JsonNode changed = sound.deepCopy();
        JsonPointer pointer = JsonPointer.compile(place);
        switch (changed.at(pointer.head())) {
            case ArrayNode list -> list.set(pointer.last().getMatchingIndex(), value);
            case ObjectNode object -> object.set(pointer.last().getMatchingProperty(), value);
            default -> throw new AssertionError(place);
        }
        return changed;
    }

    /** Opens the checkpoint with this manifest; returns the refusal, or nothing if it is accepted. */
    private String refusal(JsonNode manifest) throws IOException {
        Files.writeString(file, manifest.toString());
        return assertTimeoutPreemptively(Duration.ofSeconds(60), () -> {
            try (Checkpoint opened = Checkpoint.open(directory)) {
                assertTrue(opened.model().parameters().size() > 0);
                return "";
            } catch (CheckpointException refused) {
                return refused.getMessage();
            }
        });
    }

    @Test
    void shouldRefuseEveryValueOfAnotherKindOrRangeInASentence() throws IOException {
        assertEquals("", refusal(sound));
        Set<String> accepted = new TreeSet<>();
        for (String place : places(sound, "")) {
            for (String value : VALUES) {
                String why = refusal(with(place, JSON.readTree(value)));
                if (why.isEmpty()) {
                    accepted.add(place + " = " + value);
                }
                assertFalse(FOREIGN.matcher(why).find(), () -> place + " = " + value + ": " + why);
                assertTrue(why.lines().count() <= 1 && why.length() < 600, () -> place + " = " + value + ": " + why);
            }
        }
        // These are values of the right kind; the model and the libraries are compared with weights and configuration.
        assertEquals(new TreeSet<>(Set.of("/loss_scale/factor = 2147483648", "/loss_scale/factor = 9223372036854775807",
                "/loss_scale/factor = 9223372036854775808",
                "/loss_scale/good_steps = 0", "/loss_scale/skips_in_row = 0", "/model/section/norm-epsilon = 1.5",
                "/model/section/sequence-length = 2147483647", "/model/section/tie-embeddings = true",
                "/model/section/vocabulary-size = 2147483647", "/products = \"\"", "/products = \"x\"",
                "/replicas = []")), accepted);
    }

    @Test
    void shouldRefuseAManifestWithoutAField() throws IOException {
        for (String place : places(sound, "")) {
            JsonPointer pointer = JsonPointer.compile(place);
            JsonNode changed = sound.deepCopy();
            if (!place.isEmpty() && changed.at(pointer.head()) instanceof ObjectNode object
                    && !place.equals("/replicas")) { // runs with one rank for each stage have none
                object.remove(pointer.last().getMatchingProperty());
                String why = refusal(changed);
                assertTrue(why.startsWith(file + " is damaged ("), place + ": " + why);
                assertFalse(FOREIGN.matcher(why).find(), place + ": " + why);
            }
        }
    }

    @Test
    void shouldRefuseMoreBlocksThanAModelHasBeforeTheyAreListed() throws IOException {
        String why = refusal(with("/model/section/layers", JSON.readTree("2147483647")));
        assertEquals(file + " is damaged (its model has 2147483647 blocks, and a model has at most 65534): resume from"
                + " another checkpoint", why);
    }

    /** The manifest has no checksum; its parts have the step in theirs. */
    @Test
    void shouldRefuseTheStepOfAnotherCheckpoint() throws IOException {
        String why = refusal(with("/steps_done", JSON.readTree("21")));
        assertEquals(file + " is damaged (it has steps_done = 21, but rank-000.safetensors has 20): resume from another"
                + " checkpoint", why);
    }

    @Test
    void shouldRefuseAFileThatIsListedTwice() throws IOException {
        String why = refusal(with("/parts/1", sound.at("/parts/0")));
        assertEquals(file + " is damaged (a file is listed twice among its parts): resume from another checkpoint",
                why);
    }

    @Test
    void shouldNotReadAHugeManifest() throws IOException {
        try (var channel = Files.newByteChannel(file, Set.of(StandardOpenOption.WRITE))) {
            channel.position(1L << 33).write(ByteBuffer.wrap(new byte[]{'}'}));
        }
        String why = assertThrows(CheckpointException.class, () -> Checkpoint.open(directory)).getMessage();
        assertTrue(why.contains("8589934593 bytes"), why);
    }
}
