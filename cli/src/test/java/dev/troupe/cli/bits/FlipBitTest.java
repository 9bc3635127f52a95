package dev.troupe.cli.bits;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.troupe.cli.Execution;
import dev.troupe.cli.Golden;
import dev.troupe.engine.conformance.share.Dealt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Flips at places that are drawn: each is named by the first output in which the run parts from an undisturbed one. */
@Tag("real")
@Dealt(3)
@Timeout(300)
class FlipBitTest {
    private static final int STEPS = 2;
    private static final int STAGES = 2;
    private static final int MICROBATCHES = 4;

    @TempDir
    private Path directory;

    /** A fault and the words for its place. */
    private record Flip(String fault, String found) {
    }

    private static Flip draw(Random random) {
        int step = random.nextInt(STEPS);
        int stage = random.nextInt(STAGES);
        int microbatch = random.nextInt(MICROBATCHES);
        int seed = random.nextInt(1_000_000);
        String where = " stage=" + stage + " step=" + step + " seed=" + seed;
        String ofMicrobatch = where + " microbatch=" + microbatch;
        String place = " " + step + " stage " + stage;
        String perMicrobatch = place + " microbatch " + microbatch;
        return switch (random.nextInt(7)) {
            case 0 -> new Flip("flip-bit at=F" + ofMicrobatch, "F" + perMicrobatch);
            case 1 -> new Flip("flip-bit at=I" + ofMicrobatch, "I" + perMicrobatch);
            case 2 -> new Flip("flip-bit at=W" + ofMicrobatch,
                    "W" + place + " tensor " + gradient(stage, step == 0 && microbatch == 0, seed));
            case 3 -> new Flip("flip-norm-bit at=F" + ofMicrobatch, "F" + perMicrobatch);
            case 4 -> new Flip("flip-norm-bit at=I" + ofMicrobatch, "I" + perMicrobatch);
            case 5 -> new Flip("flip-bit at=send" + ofMicrobatch,
                    (stage == 0 ? "RECV_F " : "RECV_B ") + step + " stage " + (1 - stage) + " microbatch "
                            + microbatch);
            default -> new Flip("flip-bit at=optimizer" + where, "UPDATE" + place);
        };
    }

    /**
     * The gradient of a stage's W that a seed draws: the head's, its two blocks' from the last on, and the embedding's. How
     * many there are is known once a W of the stage has ended; before that it is the first.
     */
    private static String gradient(int stage, boolean isFirst, int seed) {
        List<String> gradients = new ArrayList<>(stage == STAGES - 1 ? List.of("wte.weight") : List.of());
        for (int block = 2 * stage + 1; block >= 2 * stage; block--) {
            for (String tensor : List.of("mlp.c_proj", "mlp.c_fc", "attn.c_proj", "attn.c_attn")) {
                gradients.add("h." + block + "." + tensor + ".weight");
                gradients.add("h." + block + "." + tensor + ".bias");
            }
        }
        if (stage == 0) {
            gradients.add("wte.weight");
        }
        return gradients.get(new SplittableRandom(seed).nextInt(isFirst ? 1 : gradients.size()));
    }

    private Path train(String name, String... more) {
        List<String> settings = new ArrayList<>(Golden.named(Golden.TIED).settings("engine.kind=reference",
                "parallel.pipeline=" + STAGES, "parallel.schedule=zb-h1", "training.microbatch-size=2",
                "training.steps=" + STEPS));
        settings.addAll(List.of(more));
        Path run = directory.resolve(name);
        Execution.train(run, settings).requireDone();
        return run;
    }

    private void assertFound(int flips, long seed) throws IOException {
        Random random = new Random(seed);
        Path clean = train("clean");
        List<String> wrong = new ArrayList<>();
        for (int number = 0; number < flips; number++) {
            Flip flip = draw(random);
            Path struck = train("flip-" + number, "faults=[\"" + flip.fault() + "\"]");
            assertEquals(1, Files.readAllLines(struck.resolve("faults.jsonl")).size(), flip.fault());
            Execution bisected = Execution.command("bisect", "--json", clean.toString(), struck.toString());
            JsonNode parting = new ObjectMapper().readTree(bisected.output()).path("parting");
            String found = parting.path("action").asText() + " " + parting.path("step").asText() + " stage "
                    + parting.path("stage").asText()
                    + (parting.has("microbatch") ? " microbatch " + parting.path("microbatch").asText() : "")
                    + (parting.path("action").asText().equals("W") ? " tensor " + parting.path("tensor").asText() : "");
            if (!found.equals(flip.found())) {
                wrong.add(flip.fault() + " was found as " + found);
            }
        }
        assertEquals(List.of(), wrong);
    }

    @Test
    void shouldNameTheActionInWhichABitFlipped() throws IOException {
        assertFound(8, 3);
    }

    @Tag("long")
    @Test
    void shouldNameTheActionOfEachOfAHundredFlips() throws IOException {
        assertFound(100, 5);
    }
}
