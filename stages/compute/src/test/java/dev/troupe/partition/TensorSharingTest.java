package dev.troupe.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.model.spec.Section;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.StreamSharding;
import dev.troupe.parallel.TensorShare;
import dev.troupe.stage.InMemoryGroup;
import dev.troupe.stage.Stage;
import dev.troupe.stage.StageSettings;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Models that a group cannot share out are refused with a sentence. */
@Tag("plan")
class TensorSharingTest {
    private static final ModelSpec MODEL = new Gpt2(1, 12, 6, 5, 7, true, Gpt2.NORM_EPSILON).spec();

    @Test
    void shouldShareOutSizesThatDivide() {
        for (int ranks : new int[]{1, 2, 3, 6}) {
            assertEquals(Optional.empty(), TensorSharing.refusal(MODEL, 5, ranks, StreamSharding.of(false), false));
            assertEquals(Optional.empty(), TensorSharing.refusal(MODEL, 30, ranks, StreamSharding.of(true), false));
        }
    }

    @Test
    void shouldNameAllSizesThatDoNotDivide() {
        assertEquals(
                "parallel.tensor = 4 ranks cannot share a stage: the 6 attention heads (model.heads) are not divisible"
                        + " by 4: change one or the other",
                TensorSharing.refusal(MODEL, 5, 4, StreamSharding.of(false), false).orElseThrow());
        assertEquals(
                "parallel.tensor = 8 ranks cannot share a stage: the 6 attention heads (model.heads) are not divisible"
                        + " by 8; a vocabulary of 7 (model.vocabulary-size) has no token for each of 8; the 5 rows of a"
                        + " microbatch (microbatch size times sequence length), which parallel.sequence divides, are not"
                        + " divisible by 8: change one or the other",
                TensorSharing.refusal(MODEL, 5, 8, StreamSharding.of(true), false).orElseThrow());
        assertTrue(TensorSharing.refusal(MODEL, 5, 2, StreamSharding.of(false), true).orElseThrow()
                .contains("5 rows of a microbatch (microbatch size times sequence length), which"
                        + " training.recompute-partition divides, are not divisible by 2"));
    }

    @Test
    void shouldRefuseAnInnerWidthThatDoesNotDivide() {
        ModelSpec llama = ModelFamilies.named("llama").read(new Section(Map.of("layers", 1, "hidden", 12, "heads", 6,
                "inner", 10, "sequence-length", 5, "vocabulary-size", 7, "tie-embeddings", true)));
        assertEquals(Optional.empty(), TensorSharing.refusal(llama, 5, 2, StreamSharding.of(false), false));
        assertEquals(
                "parallel.tensor = 3 ranks cannot share a stage: the inner width of 10 (model.inner) is not divisible"
                        + " by 3: change one or the other",
                TensorSharing.refusal(llama, 5, 3, StreamSharding.of(false), false).orElseThrow());
    }

    @Test
    void shouldRefuseToBuildTheStage() {
        try (Engine engine = new ReferenceEngine(DataType.FLOAT64)) {
            TensorShare share = new TensorShare(new InMemoryGroup(4).member(1, engine), false);
            assertThrows(IllegalArgumentException.class,
                    () -> Stage.create(engine, Partition.uniform(MODEL, 1), 0,
                            new StageSettings(1, 5, 1, new Optimizer.Sgd(0)), share, DataShare.ALL,
                            new InitialWeights(MODEL, 1)));
            assertEquals(0, engine.allocatedBytes());
        }
    }
}
