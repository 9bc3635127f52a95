package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.DataType;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.model.spec.Axis;
import dev.troupe.parallel.TensorShare;
import dev.troupe.parallel.Zero;
import dev.troupe.partition.Partition;
import dev.troupe.stage.InMemoryGroup.Call;
import dev.troupe.stage.NaivePipeline.StepResult;
import dev.troupe.stage.TensorPipelines.Setup;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A stage shared out over the ranks of a group against the same stage on one rank, and the traffic of the group. */
@Tag("parity")
@Dealt(3)
class TensorParallelTest {
    private static final double TOLERANCE = 1e-9;
    private static final double SINGLE_TOLERANCE = 1e-4;

    @ParameterizedTest(name = "{0} ranks, sequence parallel {1}, tied {2}, {3} stages, vocabulary {4}, {5}, {6}, {7}")
    @CsvSource({
            "2, false, true,  1, 64, ALL_FORWARDS_FIRST,       NONE,        0.2",
            "2, true,  true,  1, 67, WHOLE_BACKWARDS,          NONE,        0.2",
            "2, false, true,  2, 67, ONE_FORWARD_ONE_BACKWARD, SELECTIVE,   0",
            "2, true,  true,  2, 67, WEIGHT_GRADIENTS_LATE,    SELECTIVE,   0.2",
            "2, false, false, 3, 65, WHOLE_BACKWARDS,          FULL,        0.2",
            "2, true,  false, 3, 65, ONE_FORWARD_ONE_BACKWARD, FULL,        0",
            "4, false, true,  3, 67, WEIGHT_GRADIENTS_LATE,    NONE,        0",
            "4, true,  true,  3, 66, ONE_FORWARD_ONE_BACKWARD, NONE,        0.2",
            "4, false, false, 1, 67, ALL_FORWARDS_FIRST,       FULL,        0.2",
            "4, true,  false, 2, 65, WHOLE_BACKWARDS,          SELECTIVE,   0.2",
            "1, true,  true,  2, 67, ONE_FORWARD_ONE_BACKWARD, NONE,        0"})
    void shouldGiveTheResultsOfOneRank(int size, boolean sequence, boolean tied, int stageCount, int vocabularySize,
            Order order, Recompute recompute, double dropout) {
        ModelSpec model = new Gpt2(3, 32, 4, 16, vocabularySize, tied, Gpt2.NORM_EPSILON).spec();
        try (StageGolden golden = new StageGolden(StageGolden.TIED)) {
            Setup setup = new Setup(golden, new InitialWeights(model, 7), 2, DataType.FLOAT64, recompute,
                    new DropoutSettings(dropout, 3));
            assertSameTraining(setup, Partition.uniform(model, stageCount), size, sequence, order, TOLERANCE);
        }
    }

    @ParameterizedTest(name = "{0} of PyTorch on {1} ranks, sequence parallel {2}")
    @CsvSource({"gpt2-tied-adamw, 4, false, 2", "gpt2-tied-adamw, 2, true, 1", "gpt2-untied-sgd, 2, true, 4",
            "gpt2-uneven, 3, true, 2", "gpt2-uneven, 2, false, 3", "mixtral-aux, 2, false, 2",
            "mixtral-aux, 2, true, 1",
            "qwen3moe, 2, true, 3", "glm4moe, 2, false, 3", "glm4moe, 2, true, 2"})
    void shouldTrainAsPyTorchDoes(String name, int size, boolean sequence, int stageCount) {
        try (StageGolden golden = new StageGolden(name);
                TensorPipelines shared = new TensorPipelines(Setup.of(golden, golden.initial, 2),
                        Partition.uniform(golden.model(), stageCount), size, sequence)) {
            for (int step = 0; step < golden.steps; step++) {
                StepResult result = shared.step(step, Order.ONE_FORWARD_ONE_BACKWARD);
                assertEquals(golden.losses[step], result.loss(), TOLERANCE * golden.losses[step], "loss of " + step);
                assertEquals(golden.norms[step], result.norm(), TOLERANCE * golden.norms[step], "norm of " + step);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"2, false", "4, true"})
    void shouldGiveTheResultsOfOneRankInSinglePrecision(int size, boolean sequence) {
        ModelSpec model = new Gpt2(3, 32, 4, 16, 67, true, Gpt2.NORM_EPSILON).spec();
        try (StageGolden golden = new StageGolden(StageGolden.UNTIED)) { // its optimizer does not make much of gradients that are noise
            Setup setup = new Setup(golden, new InitialWeights(model, 7), 2, DataType.FLOAT32, Recompute.NONE,
                    DropoutSettings.NONE);
            assertSameTraining(setup, Partition.uniform(model, 2), size, sequence, Order.ONE_FORWARD_ONE_BACKWARD,
                    SINGLE_TOLERANCE);
        }
    }

    /**
     * Numbers that each rank sends, a microbatch of N = B T rows on t ranks: 8 N C (t-1)/t for each block, whether rows are
     * cut or not (Narayanan et al. 2021, section 3.2); 2 N C (t-1)/t for the embedding and the same for the head; and three
     * sums of N numbers for the loss.
     */
    @ParameterizedTest
    @CsvSource({"2, false", "2, true", "4, false", "4, true"})
    void shouldExchangeTheBytesOfTheFormulas(int size, boolean sequence) {
        ModelSpec model = new Gpt2(3, 32, 4, 16, 67, true, Gpt2.NORM_EPSILON).spec();
        int microbatchSize = 2;
        try (StageGolden golden = new StageGolden(StageGolden.TIED);
                TensorPipelines shared = new TensorPipelines(
                        Setup.of(golden, new InitialWeights(model, 7), microbatchSize), Partition.uniform(model, 1),
                        size, sequence)) {
            shared.gradients(0, Order.ONE_FORWARD_ONE_BACKWARD);
            InMemoryGroup group = shared.groups.getFirst();
            int microbatches = golden.batchSize / microbatchSize;
            double rows = microbatchSize * golden.sequenceLength;
            double part = (size - 1.0) / size;
            double activations = microbatches * rows * model.size(Axis.HIDDEN) * part
                    * (8 * model.blockCount() + 2 + 2);
            assertEquals(activations, sent(group, size, rows * model.size(Axis.HIDDEN)),
                    "activations and their gradients");
            assertEquals(microbatches * 3 * 2 * rows * part, sent(group, size, rows), "losses");
            long perStep = group.calls().size() - count(group, rows * model.size(Axis.HIDDEN)) - count(group, rows);
            assertEquals(sequence ? 2 : 1, perStep, "what is exchanged once a step: squares, and gradients of norms");
        }
    }

    /**
     * The bits of full recomputation with whole inputs, on every grid of pipeline, tensor-parallel and data-parallel ranks.
     * Each rank sends (t-1)/t of each kept input more, and keeps 1/t of it.
     */
    @ParameterizedTest(name = "{0} of {1} data-parallel ranks, {2} tensor-parallel ranks, {3} stages, {4}, {5} and {6}")
    @CsvSource({
            "NONE,      1, 1, 1, ALL_FORWARDS_FIRST,       1, 0, 3",
            "NONE,      2, 2, 1, ALL_FORWARDS_FIRST,       1, 0, 3",
            "OPTIMIZER, 2, 2, 1, WHOLE_BACKWARDS,          2, 0, 2",
            "GRADIENTS, 2, 2, 1, WHOLE_BACKWARDS,          1, 2, 3",
            "WEIGHTS,   2, 2, 1, ONE_FORWARD_ONE_BACKWARD, 1, 0, 3",
            "NONE,      2, 2, 2, WEIGHT_GRADIENTS_LATE,    1, 2, 3",
            "OPTIMIZER, 2, 2, 2, ONE_FORWARD_ONE_BACKWARD, 1, 0, 3",
            "GRADIENTS, 2, 2, 2, ALL_FORWARDS_FIRST,       2, 0, 2",
            "WEIGHTS,   2, 2, 2, WHOLE_BACKWARDS,          1, 2, 3",
            "WEIGHTS,   2, 1, 2, WHOLE_BACKWARDS,          1, 0, 3"})
    void shouldChangeNoBitIfRanksDivideKeptInputs(Zero zero, int holders, int size, int stageCount, Order order,
            int every, int ahead, int keptInputs) {
        ModelSpec model = new Gpt2(3, 32, 4, 16, 67, true, Gpt2.NORM_EPSILON).spec();
        try (StageGolden golden = new StageGolden(StageGolden.TIED)) {
            Setup setup = new Setup(golden, new InitialWeights(model, 7), 1, DataType.FLOAT64, Recompute.FULL,
                    new DropoutSettings(0.1, 3));
            Partition partition = Partition.uniform(model, stageCount);
            try (TensorPipelines whole = new TensorPipelines(setup.with(new Replay(every, ahead)), partition, size,
                    false, holders, zero);
                    TensorPipelines divided = new TensorPipelines(
                            setup.with(new Replay(every, ahead, true, Optional.empty())),
                            partition, size, false, holders, zero)) {
                Training.assertSame(whole, divided, order, 0);
                long activation = (long) golden.sequenceLength * model.size(Axis.HIDDEN);
                double gathers = sent(divided, size, activation) - sent(whole, size, activation);
                int microbatches = 2 * golden.batchSize;
                assertEquals(microbatches * keptInputs * activation * (size - 1.0) / size, gathers);
            }
        }
    }

    private static double sent(TensorPipelines ranks, int size, double elements) {
        return ranks.groups.stream().mapToDouble(group -> sent(group, size, elements)).sum();
    }

    private static double sent(InMemoryGroup group, int size, double elements) {
        return group.calls().stream().filter(call -> call.elements() == elements)
                .mapToDouble(call -> call.sentByEach(size)).sum();
    }

    private static long count(InMemoryGroup group, double elements) {
        return group.calls().stream().mapToLong(Call::elements).filter(count -> count == elements).count();
    }

    private static void assertSameTraining(Setup setup, Partition partition, int size, boolean sequence, Order order,
            double tolerance) {
        try (NaivePipeline alone = new NaivePipeline(setup.golden(), partition, setup.microbatchSize(), setup.source(),
                setup.recompute(), setup.dropout(), setup.parameterType(), (stage, engine) -> TensorShare.ALL);
                TensorPipelines shared = new TensorPipelines(setup, partition, size, sequence)) {
            Training.assertSame(alone, shared, order, tolerance);
        }
    }
}
