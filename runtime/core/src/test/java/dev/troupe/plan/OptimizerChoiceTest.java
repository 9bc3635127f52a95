package dev.troupe.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.optimizer.Optimizer;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("plan")
class OptimizerChoiceTest {
    private static final ModelSpec MODEL = new Gpt2(3, 64, 2, 16, 100, false, Gpt2.NORM_EPSILON).spec();
    private static final Optimizer.AdamW ADAM_W = new Optimizer.AdamW(0.9, 0.95, 1e-8, 0.1);

    @Test
    void shouldTakeTheOptimizerThatIsAskedFor() {
        assertEquals(ADAM_W, chosen());
        assertEquals(new Optimizer.Sgd(0.1, 0.9, true),
                chosen("training.optimizer.kind=sgd", "training.optimizer.momentum=0.9",
                        "training.optimizer.nesterov=true"));
        assertEquals(new Optimizer.Muon(0.95, ADAM_W), chosen("training.optimizer.kind=muon"));
        assertEquals(new Optimizer.Muon(0.9, ADAM_W),
                chosen("training.optimizer.kind=muon", "training.optimizer.momentum=0.9"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '!', value = {
            "parallel.tensor=2 ! with parallel.tensor = 2 each rank has a part of a matrix: set it to 1, or take adamw",
            "training.zero=1 parallel.data=2 ! with training.zero = 1 each of the 2 data-parallel ranks updates a part of"
                    + " them: set it to 0, or take adamw"})
    void shouldRefuseMuonOnPartsOfMatrices(String settings, String reason) {
        assertEquals("training.optimizer.kind = muon updates whole matrices, but " + reason,
                refusal(("training.optimizer.kind=muon " + settings).split(" ")));
    }

    @Test
    void shouldFeedBackTheErrorOfADelayOfOneUpdate() {
        String feedback = "training.optimizer.error-feedback=true";
        assertEquals(new Optimizer.ErrorFeedback(ADAM_W), chosen(feedback, "parallel.schedule=pipedream-2bw"));
        String asked = "training.optimizer.error-feedback = true corrects a delay of one update, but under ";
        assertEquals(asked + "1f1b no gradient is delayed: leave it out, or take pipedream-2bw", refusal(feedback));
        assertEquals(
                asked + "pipedream the age of the gradients of a stage depends on its place: leave it out, or"
                        + " take pipedream-2bw",
                refusal(feedback, "parallel.schedule=pipedream"));
    }

    private static String refusal(String... settings) {
        return assertThrows(UsageException.class, () -> chosen(settings)).getMessage();
    }

    private static Optimizer chosen(String... settings) {
        RunSpec run = RunSpecReader.read(Optional.empty(), List.of(settings));
        return OptimizerChoice.of(run, MODEL);
    }
}
