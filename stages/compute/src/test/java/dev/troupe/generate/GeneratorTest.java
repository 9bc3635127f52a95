package dev.troupe.generate;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.Section;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.partition.Partition;
import dev.troupe.stage.Stage;
import dev.troupe.stage.StageSettings;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sampling from a whole model. */
@Tag("parity")
class GeneratorTest {
    private static final ModelSpec MODEL = new Gpt2(2, 8, 2, 6, 11, true, Gpt2.NORM_EPSILON).spec();
    private static final Sampling GREEDY = new Sampling(0, 0, 0);

    private final Engine engine = new ReferenceEngine(DataType.FLOAT64);

    @AfterEach
    void closeEngine() {
        engine.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 6, 9})
    void shouldTakeTheTokenThatTheLossLikesBest(int promptLength) {
        int[] prompt = IntStream.range(0, promptLength).map(i -> (7 * i + 3) % 11).toArray();
        try (Generator generator = generator(5)) {
            assertArrayEquals(new int[]{mostLikelyByLoss(prompt)}, generator.generate(prompt, 1, GREEDY));
        }
    }

    @Test
    void shouldWriteOnAsIfItsTokensWereThePrompt() {
        try (Generator generator = generator(5)) {
            int[] prompt = {1, 2};
            int[] many = generator.generate(prompt, 8, GREEDY);
            int[] text = prompt;
            for (int expected : many) {
                assertEquals(expected, generator.generate(text, 1, GREEDY)[0]);
                text = Arrays.copyOf(text, text.length + 1);
                text[text.length - 1] = expected;
            }
        }
    }

    @Test
    void shouldDrawTheSameTextFromTheSameSeed() {
        try (Generator generator = generator(5)) {
            int[] text = generator.generate(new int[]{4}, 40, new Sampling(1, 0, 12));
            assertArrayEquals(text, generator.generate(new int[]{4}, 40, new Sampling(1, 0, 12)));
            assertFalse(Arrays.equals(text, generator.generate(new int[]{4}, 40, new Sampling(1, 0, 13))));
        }
    }

    @Test
    void shouldDrawFromTheMostLikelyOnly() {
        try (Generator generator = generator(5)) {
            int[] prompt = {4, 9};
            assertArrayEquals(generator.generate(prompt, 20, GREEDY),
                    generator.generate(prompt, 20, new Sampling(1, 1, 3)));
            long kinds = IntStream.range(0, 200).map(seed -> generator.generate(prompt, 1, new Sampling(9, 3, seed))[0])
                    .distinct().count();
            assertEquals(3, kinds);
        }
    }

    @ParameterizedTest
    @EnumSource(value = DataType.class, names = {"FLOAT32", "FLOAT64"})
    void shouldGiveAllMemoryBack(DataType parameterType) {
        try (Engine other = new ReferenceEngine(parameterType)) {
            Generator generator = new Generator(other, MODEL, new InitialWeights(MODEL, 5), MODEL.size(Axis.POSITION));
            generator.generate(new int[]{1}, 9, GREEDY);
            long bytes = other.allocatedBytes();
            int[] text = generator.generate(new int[]{1}, 9, new Sampling(1, 0, 1));
            assertEquals(bytes, other.allocatedBytes());
            assertTrue(Arrays.stream(text).allMatch(token -> token >= 0 && token < 11));
            generator.close();
            assertEquals(0, other.allocatedBytes());
        }
    }

    @Test
    void shouldReadNoMoreThanItIsAskedTo() {
        ModelSpec llama = ModelFamilies.named("llama").read(new Section(Map.of("layers", 1, "hidden", 8, "heads", 2,
                "sequence-length", 1 << 30, "vocabulary-size", 11, "tie-embeddings", true)));
        try (Generator generator = new Generator(engine, llama, new InitialWeights(llama, 5), 4)) {
            assertEquals(6, generator.generate(new int[]{1}, 6, GREEDY).length);
        }
    }

    @Test
    void shouldRefuseAnEmptyPromptAndForeignTokens() {
        try (Generator generator = generator(5)) {
            assertThrows(IllegalArgumentException.class, () -> generator.generate(new int[0], 1, GREEDY));
            assertThrows(IllegalArgumentException.class, () -> generator.generate(new int[]{11}, 1, GREEDY));
            assertThrows(IllegalArgumentException.class, () -> new Sampling(Double.NaN, 0, 0));
            assertThrows(IllegalArgumentException.class, () -> new Sampling(1, -1, 0));
        }
    }

    private Generator generator(long seed) {
        return new Generator(engine, MODEL, new InitialWeights(MODEL, seed), MODEL.size(Axis.POSITION));
    }

    /** Returns the next token with the smallest loss on a stage; another way through the model. */
    private int mostLikelyByLoss(int[] prompt) {
        int window = Math.min(prompt.length, MODEL.size(Axis.POSITION));
        int[] tokens = Arrays.copyOfRange(prompt, prompt.length - window, prompt.length);
        StageSettings settings = new StageSettings(1, window, 1, new Optimizer.Sgd(0));
        try (Stage stage = Stage.create(engine, Partition.uniform(MODEL, 1), 0, settings,
                new InitialWeights(MODEL, 5))) {
            int best = -1;
            double smallest = Double.POSITIVE_INFINITY;
            for (int token = 0; token < MODEL.size(Axis.VOCABULARY); token++) {
                int[] targets = new int[window];
                targets[window - 1] = token;
                stage.forwardOnly(0, null, new MicrobatchRows(tokens, targets));
                if (stage.loss(0) < smallest) {
                    smallest = stage.loss(0);
                    best = token;
                }
            }
            return best;
        }
    }
}
