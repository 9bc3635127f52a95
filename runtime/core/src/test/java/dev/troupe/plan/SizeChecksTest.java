package dev.troupe.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.config.RunSpecReader;
import dev.troupe.plan.prepare.OpenedRun;
import dev.troupe.plan.prepare.PlannedRun;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.plan.prepare.SizedRun;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sizes that are too large, refused before anything is written, with the number and the key to change. */
@Tag("plan")
class SizeChecksTest {
    @TempDir
    private Path home;

    /** 2^31 - 1 elements are 42,729 rows of 50,257 logits: 41 sequences of 1,024 tokens. */
    @Test
    void shouldRefuseLogitsThatNoTensorHolds() {
        String[] settings = {"model.sequence-length=1024", "model.vocabulary-size=50257", "training.microbatch-size=43",
                "training.global-batch-size=43"};
        assertEquals(
                "rank 0, stage 0 of 1, 0F0: the logits [44032 x 50257] would have 2,212,916,224 elements, and a tensor"
                        + " has at most 2,147,483,647: lower training.microbatch-size to at most 41, or raise parallel.tensor",
                refusal(settings));
        // The head's shares of the vocabulary have half of them each, and are refused for what they take.
        assertGetsAsFarAsTheMemory(settings[0], settings[1], settings[2], settings[3], "parallel.tensor=2");
    }

    @Test
    void shouldNameWhateverIsTooLarge() {
        assertEquals(
                "rank 0, stage 0 of 1, 0F0: queries, keys and values [1048576 x 3072] would have 3,221,225,472"
                        + " elements, and a tensor has at most 2,147,483,647: lower training.microbatch-size to at most 43690, or"
                        + " raise parallel.tensor",
                refusal("model.hidden=1024", "model.heads=4", "training.microbatch-size=65536",
                        "training.global-batch-size=65536"));
        assertEquals(
                "rank 0, stage 0 of 1, 0F0: attention's state [2 x 2 x 32768 x 32768] would have 4,294,967,296 elements,"
                        + " and a tensor has at most 2,147,483,647: lower model.sequence-length, or raise"
                        + " parallel.tensor",
                refusal("model.sequence-length=32768", "training.microbatch-size=2"));
    }

    @Test
    void shouldRefuseRowsThatAnIntDoesNotCount() {
        assertEquals(
                "training.microbatch-size = 200000000 sequences of 16 tokens are 3,200,000,000 rows, and a tensor has at"
                        + " most 2,147,483,647: lower one of them",
                refusal("training.microbatch-size=200000000", "training.global-batch-size=200000000"));
        assertEquals("the inner width of a block, 4 x model.hidden, would be 4,000,000,000, and a width is at most"
                + " 2,147,483,647: lower model.hidden", refusal("model.hidden=1000000000"));
    }

    /**
     * The MLP half of a block of 20,000 has 3.2e9 weights: one rank cannot have them, three can, as far as the limit
     * goes.
     */
    @Test
    void shouldCountWeightsAfterTheyAreSharedOut() {
        assertEquals(
                "the layer h.0.mlp would have 3,200,140,000 weights on each of parallel.tensor = 1 ranks, and a rank has at most"
                        + " 2,147,483,647 of a stage: raise parallel.tensor, or lower model.hidden",
                refusal("model.hidden=20000", "model.heads=160"));
        assertGetsAsFarAsTheMemory("model.hidden=20000", "model.heads=160", "parallel.tensor=8");
        assertEquals(
                "rank 0, stage 0 of 1: a buffer of 2,401,551,232 weights is needed, and one has at most 2,147,483,647:"
                        + " raise parallel.tensor, take more stages (parallel.pipeline, parallel.virtual-stages), or a smaller model",
                refusal("model.hidden=20000", "model.heads=160", "model.layers=4", "parallel.tensor=8"));
    }

    @Test
    void shouldRefuseAPlanThatNobodyCouldHold() {
        assertEquals(
                "a step would have 2,097,152 forwards (parallel.pipeline x parallel.virtual-stages x microbatches), and"
                        + " a plan has at most 1,048,576: lower training.global-batch-size, or raise training.microbatch-size",
                refusal("training.global-batch-size=524288", "parallel.pipeline=4"));
        assertEquals(
                "a step would lead 16,777,216 times through a layer (layers x microbatches), and it does so at most"
                        + " 8,388,608 times: lower training.global-batch-size, or raise training.microbatch-size",
                refusal("training.global-batch-size=262144", "model.layers=62"));
    }

    @Test
    void shouldRefuseMoreStagesThanAnEdgeNumbers() {
        assertEquals(
                "parallel.pipeline x parallel.virtual-stages are 69,632 stages, and a model has at most 65,536: lower"
                        + " one of them",
                refusal("parallel.pipeline=4096", "parallel.virtual-stages=17", "model.layers=65534"));
    }

    /** The memory of this machine is not the limit that is tested. */
    private void assertGetsAsFarAsTheMemory(String... settings) {
        try (OpenedRun opened = OpenedRun.of(request(settings))) {
            assertEquals(opened.spec().parallel().worldSize(),
                    SizedRun.of(PlannedRun.of(opened)).memory().ranks().size());
        }
    }

    private String refusal(String... settings) {
        String sentence = assertThrows(UsageException.class, () -> PreparedRun.of(request(settings)).close())
                .getMessage();
        assertFalse(Files.exists(home.resolve("out")), "something was written");
        return sentence;
    }

    private RunRequest request(String... settings) {
        List<String> all = new ArrayList<>(List.of("engine.kind=reference", "model.layers=2", "model.hidden=8",
                "model.heads=2", "model.sequence-length=16", "data.validation-fraction=0", "parallel.pipeline=1",
                "parallel.virtual-stages=1",
                "parallel.schedule=1f1b", "training.global-batch-size=4", "training.microbatch-size=1",
                "training.validate-every=0"));
        all.addAll(List.of(settings));
        return new RunRequest(RunSpecReader.read(Optional.empty(), all), new byte[1 << 17],
                home.resolve("out"), Optional.empty(), OptionalLong.empty());
    }
}
