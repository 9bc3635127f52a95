package dev.troupe.generate;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.cpu.CpuEngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.engine.structural.SizingEngine;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.Lora;
import dev.troupe.model.spec.Section;
import dev.troupe.weights.WeightSource;
import dev.troupe.weights.peft.AdaptedWeights;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Generators of one model with several adapters, which have its weights in memory once. */
@Tag("parity")
class AdaptedGeneratorTest {
    private static final int VOCABULARY = 300;
    private static final int PLACES = 20;
    private static final int TOKENS = 6;
    private static final int[] PROMPT = {3, 1, 4, 1, 5};

    private static ModelSpec model(String family, boolean isTied) {
        Map<String, Object> section = Map.of("layers", 3, "hidden", 32, "heads", 4, "sequence-length", PLACES,
                "vocabulary-size", VOCABULARY, "tie-embeddings", isTied);
        return ModelFamilies.named(family).read(new Section(section));
    }

    /** Two adapters of other matrices and ranks. */
    private static List<ModelSpec> adapted(ModelSpec base) {
        return Stream.of(new Lora(2, 8, List.of(), "base"), new Lora(3, 5, true, List.of(Lora.ALL_LINEAR), "base"))
                .map(lora -> base.family().adapted(base, lora)).toList();
    }

    private static Stream<Engine> engines() {
        EngineSettings bfloat16 = new EngineSettings(DataType.FLOAT32, DataType.BFLOAT16, 1);
        return Stream.of(new ReferenceEngine(DataType.FLOAT64), new CpuEngineProvider().open(bfloat16));
    }

    @ParameterizedTest
    @MethodSource("engines")
    void shouldHaveTheBitsOfAModelWithItsOwnWeights(Engine engine) {
        try (engine) {
            for (ModelSpec base : List.of(model("llama", true), model("llama", false), model("gpt2", true))) {
                List<ModelSpec> models = new ArrayList<>(List.of(base));
                models.addAll(adapted(base));
                List<List<double[]>> alone = models.stream().map(model -> alone(engine, model)).toList();
                assertFalse(Arrays.equals(alone.get(0).getFirst(), alone.get(1).getFirst()));
                assertFalse(Arrays.equals(alone.get(1).getFirst(), alone.get(2).getFirst()));
                List<List<double[]>> together = together(engine, models);
                for (int model = 0; model < models.size(); model++) {
                    for (int token = 0; token < TOKENS; token++) {
                        assertArrayEquals(alone.get(model).get(token), together.get(model).get(token),
                                base.summary() + " " + model + " " + token);
                    }
                }
            }
        }
    }

    private static List<double[]> alone(Engine engine, ModelSpec model) {
        WeightSource source = model.lora().isEmpty()
                ? ExactTextTest::read
                : new AdaptedWeights(model, ExactTextTest::read, ExactTextTest::read);
        try (Generator generator = new Generator(engine, model, source, PLACES);
                Continuation text = generator.begin(PROMPT, new Sampling(1.2, 0, 5))) {
            List<double[]> logits = new ArrayList<>();
            for (int token = 0; token < TOKENS; token++) {
                text.next();
                logits.add(text.logits().clone());
            }
            return logits;
        }
    }

    /** The logits of the texts of several models, each of which gets a token alternately. */
    private static List<List<double[]>> together(Engine engine, List<ModelSpec> models) {
        try (Generator base = new Generator(engine, models.getFirst(), ExactTextTest::read, PLACES);
                Generator first = base.withAdapters(models.get(1), ExactTextTest::read);
                Generator second = base.withAdapters(models.get(2), ExactTextTest::read)) {
            List<Continuation> texts = Stream.of(base, first, second)
                    .map(generator -> generator.begin(PROMPT, new Sampling(1.2, 0, 5))).toList();
            List<List<double[]>> logits = texts.stream().map(_ -> (List<double[]>) new ArrayList<double[]>()).toList();
            for (int token = 0; token < TOKENS; token++) {
                for (int text = 0; text < texts.size(); text++) {
                    texts.get(text).next();
                    logits.get(text).add(texts.get(text).logits().clone());
                }
            }
            texts.forEach(Continuation::close);
            return logits;
        }
    }

    @Test
    void shouldHaveTheWeightsOnce() {
        ModelSpec model = model("llama", false);
        ModelSpec adapted = adapted(model).getFirst();
        try (Engine real = new ReferenceEngine(DataType.FLOAT32);
                Engine sizes = SizingEngine.like(real);
                Generator base = new Generator(sizes, model, ExactTextTest::read, PLACES)) {
            long before = sizes.allocatedBytes();
            try (Generator generator = base.withAdapters(adapted, ExactTextTest::read)) {
                long more = sizes.allocatedBytes() - before;
                long weights = Float.BYTES * model.parameterCount();
                assertTrue(more < weights / 10, more + " bytes for an adapter of a model of " + weights);
                assertEquals(PLACES, generator.longest());
            }
        }
    }
}
