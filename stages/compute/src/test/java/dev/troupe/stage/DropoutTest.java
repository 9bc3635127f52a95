package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.partition.Partition;
import dev.troupe.stage.NaivePipeline.StepResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Dropout depends on the seed, the step and the microbatch, and on nothing else. */
@Tag("parity")
@Dealt(2)
class DropoutTest {
    private static final DropoutSettings DROPOUT = new DropoutSettings(0.2, 5);

    @ParameterizedTest
    @ValueSource(strings = {StageGolden.TIED, StageGolden.UNTIED, StageGolden.UNEVEN})
    void shouldGiveTheSameBitsUnderEverySplitAndOrder(String name) {
        try (StageGolden golden = new StageGolden(name)) {
            Trained one = train(golden, 1, Order.ALL_FORWARDS_FIRST, DROPOUT);
            for (Order order : List.of(Order.ONE_FORWARD_ONE_BACKWARD, Order.WEIGHT_GRADIENTS_LATE)) {
                Trained four = train(golden, 4, order, DROPOUT);
                assertEquals(one.steps(), four.steps());
                one.weights()
                        .forEach((tensor, values) -> assertArrayEquals(values, four.weights().get(tensor), tensor));
            }
        }
    }

    @Test
    void shouldDropOtherElementsInOtherStepsAndUnderOtherSeeds() {
        try (StageGolden golden = new StageGolden(StageGolden.TIED);
                NaivePipeline pipeline = pipeline(golden, 1, DROPOUT);
                NaivePipeline other = pipeline(golden, 1, new DropoutSettings(0.2, 6));
                NaivePipeline none = pipeline(golden, 1, DropoutSettings.NONE)) {
            double loss = pipeline.gradients(0, Order.ALL_FORWARDS_FIRST).loss();
            assertEquals(loss, pipeline.gradients(0, Order.ALL_FORWARDS_FIRST).loss());
            assertNotEquals(loss, other.gradients(0, Order.ALL_FORWARDS_FIRST).loss());
            assertNotEquals(loss, none.gradients(0, Order.ALL_FORWARDS_FIRST).loss());
            assertEquals(none.validationLoss(0), pipeline.validationLoss(0),
                    "nothing drops out where a loss is measured");
            pipeline.stages.getFirst().enterStep(0, 0);
            assertNotEquals(lossOfFirst(golden, pipeline, 0), lossOfFirst(golden, pipeline, 1));
        }
    }

    private static double lossOfFirst(StageGolden golden, NaivePipeline pipeline, long step) {
        Stage stage = pipeline.stages.getFirst();
        stage.enterStep(step, 0);
        stage.forward(0, null, new MicrobatchRows(golden.tokens(0, 0, 2, 0), golden.tokens(0, 0, 2, 1)));
        stage.backward(0, null);
        return stage.loss(0);
    }

    @Test
    void shouldNumberMicrobatchesOverAllPipelines() {
        try (StageGolden golden = new StageGolden(StageGolden.TIED);
                NaivePipeline whole = pipeline(golden, 1, DROPOUT);
                NaivePipeline second = pipeline(golden, 1, DROPOUT)) {
            second.stages.getFirst().enterStep(0, 2);
            for (int microbatch = 0; microbatch < 2; microbatch++) {
                int[] tokens = golden.tokens(0, microbatch + 2, 2, 0);
                int[] targets = golden.tokens(0, microbatch + 2, 2, 1);
                whole.stages.getFirst().forward(microbatch + 2, null, new MicrobatchRows(tokens, targets));
                second.stages.getFirst().forward(microbatch, null, new MicrobatchRows(tokens, targets));
                assertEquals(whole.stages.getFirst().loss(microbatch + 2), second.stages.getFirst().loss(microbatch));
            }
        }
    }

    /** A small step of the weights changes the loss by the gradient, under the same masks. */
    @Test
    void shouldGiveTheGradientOfWhatItComputes() {
        try (StageGolden golden = new StageGolden(StageGolden.UNTIED);
                NaivePipeline start = pipeline(golden, 2, DROPOUT)) {
            start.assertGradientOfLoss(0);
        }
    }

    private record Trained(List<StepResult> steps, Map<String, double[]> weights) {
    }

    private static Trained train(StageGolden golden, int stageCount, Order order, DropoutSettings dropout) {
        try (NaivePipeline pipeline = pipeline(golden, stageCount, dropout)) {
            List<StepResult> steps = new ArrayList<>();
            for (int step = 0; step < 3; step++) {
                steps.add(pipeline.step(step, order));
            }
            return new Trained(steps, pipeline.values(Stage::weights));
        }
    }

    private static NaivePipeline pipeline(StageGolden golden, int stageCount, DropoutSettings dropout) {
        return new NaivePipeline(golden, Partition.uniform(golden.model(), stageCount), 2, golden.initial,
                Recompute.NONE,
                dropout);
    }
}
