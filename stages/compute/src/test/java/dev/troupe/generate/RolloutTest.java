package dev.troupe.generate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.Section;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.partition.Partition;
import dev.troupe.stage.Stage;
import dev.troupe.stage.StageSettings;
import dev.troupe.weights.WeightException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Rounds of generating, scoring and training: the generator's log-probabilities are the trainer's, to the bit, after each
 * update, with a trainer of several stages and weights that are passed on in memory.
 */
@Tag("parity")
class RolloutTest {
    private static final int PROMPT = 3;
    private static final int TOKENS = 5;
    private static final int TEXTS = 2;
    private static final int PLACES = PROMPT + TOKENS;
    private static final StageSettings SETTINGS = new StageSettings(1, PLACES - 1, TEXTS,
            new Optimizer.AdamW(0.9, 0.95, 1e-8, 0.1));

    private final Engine engine = new ReferenceEngine(DataType.FLOAT64);

    private static ModelSpec model(String family) {
        return ModelFamilies.named(family).read(new Section(Map.of("layers", 2, "hidden", 16, "heads", 2,
                "sequence-length", PLACES, "vocabulary-size", 29, "tie-embeddings", false)));
    }

    private record Text(int[] tokens, double[] logProbabilities) {
    }

    private List<Stage> trainer(ModelSpec model, int stageCount) {
        Partition partition = Partition.uniform(model, stageCount);
        return IntStream.range(0, stageCount)
                .mapToObj(stage -> Stage.create(engine, partition, stage, SETTINGS, new InitialWeights(model, 1)))
                .toList();
    }

    @ParameterizedTest
    @CsvSource({"llama, 1", "llama, 2", "gpt2, 3", "qwen3, 2"})
    void shouldHaveTheTrainersLogProbabilitiesAfterEachUpdate(String family, int stageCount) {
        ModelSpec model = model(family);
        List<Stage> trainer = trainer(model, stageCount);
        try (Generator generator = new Generator(engine, model, new InitialWeights(model, 1), PLACES)) {
            StageWeights weights = StageWeights.of(engine, trainer);
            double[] before = {};
            for (int version = 0; version < 25; version++) {
                List<Text> texts = new ArrayList<>();
                for (int number = 0; number < TEXTS; number++) {
                    texts.add(write(generator, version * TEXTS + number));
                }
                for (Text text : texts) {
                    for (int token = 0; token < TOKENS; token++) {
                        assertEquals(-loss(trainer, rows(text, PROMPT + token, 1)), text.logProbabilities[token],
                                0.0, "version " + version + " token " + token);
                    }
                }
                double[] now = generator.logProbabilities(new int[]{1, 2, 3});
                assertTrue(!Arrays.equals(before, now), "version " + version + " is the one before");
                before = now;
                train(trainer, texts, version);
                assertNotEquals(-loss(trainer, rows(texts.getFirst(), PROMPT, 1)),
                        texts.getFirst().logProbabilities[0], "the update of version " + version);
                generator.load(weights);
            }
        } finally {
            trainer.forEach(Stage::close);
            engine.close();
        }
    }

    private static Text write(Generator generator, long seed) {
        int[] prompt = {1, 2, 3};
        try (Continuation text = generator.begin(prompt, new Sampling(1, 0, seed))) {
            double[] logProbabilities = IntStream.range(0, TOKENS)
                    .mapToDouble(_ -> text.probability(text.next()).logProbability()).toArray();
            return new Text(IntStream.concat(IntStream.of(prompt), IntStream.of(text.written())).toArray(),
                    logProbabilities);
        }
    }

    private static MicrobatchRows rows(Text text, int first, int count) {
        int[] targets = new int[PLACES - 1];
        Arrays.fill(targets, Engine.NOT_COUNTED);
        System.arraycopy(text.tokens, first, targets, first - 1, count);
        MicrobatchRows rows = new MicrobatchRows(Arrays.copyOf(text.tokens, PLACES - 1), targets);
        rows.setTargetsPerMicrobatch(count);
        return rows;
    }

    private static double loss(List<Stage> trainer, MicrobatchRows rows) {
        Tensor activation = null;
        for (Stage stage : trainer) {
            adopt(trainer, stage, -1, activation);
            activation = stage.forwardOnly(0, activation, rows);
        }
        return trainer.getLast().loss(0);
    }

    /** Takes over a tensor of the neighbour. */
    private static void adopt(List<Stage> trainer, Stage by, int neighbour, Tensor tensor) {
        if (tensor != null) {
            by.boundary().adopt(tensor, trainer.get(by.index() + neighbour).boundary());
        }
    }

    /** The policy gradient with the number of even tokens as the reward. */
    private static void train(List<Stage> trainer, List<Text> texts, int version) {
        for (int number = 0; number < TEXTS; number++) {
            MicrobatchRows rows = rows(texts.get(number), PROMPT, TOKENS);
            trainer.getLast().scaleLoss(0.5 + IntStream.of(texts.get(number).tokens).filter(id -> id % 2 == 0).count());
            Tensor activation = null;
            for (Stage stage : trainer) {
                adopt(trainer, stage, -1, activation);
                activation = stage.forward(number, activation, rows);
            }
            Tensor gradient = null;
            for (Stage stage : trainer.reversed()) {
                adopt(trainer, stage, 1, gradient);
                gradient = stage.backward(number, gradient);
            }
        }
        for (Stage stage : trainer) {
            stage.addUpGradients();
            stage.optimizerStep(0.01, 1, version + 1);
        }
    }

    @Test
    void shouldRefuseATensorThatTheStagesDoNotHave() {
        try (engine; Stage stage = trainer(model("llama"), 1).getFirst()) {
            StageWeights weights = StageWeights.of(engine, List.of(stage));
            String sentence = assertThrows(WeightException.class,
                    () -> weights.read("lm_head.weight", Shape.of(1, 1), DataType.FLOAT64, MemorySegment.NULL))
                    .getMessage();
            assertTrue(sentence.contains("but have FLOAT64 [29 x 16]"), sentence);
        }
    }
}
