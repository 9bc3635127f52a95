package dev.troupe.generate;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.cpu.CpuEngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.weights.huggingface.HuggingFaceModel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Texts and distributions, compared with transformers in float64. */
@Tag("parity")
class GenerationGoldenTest {
    private static final Sampling GREEDY = new Sampling(0, 0, 0);

    @ParameterizedTest
    @CsvSource({"gpt2, reference", "llama, reference", "mixtral, reference", "qwen3, reference", "gpt2, cpu",
            "llama, cpu", "mixtral, cpu", "qwen3, cpu"})
    void shouldContinuePromptsAsTransformersDoes(String name, String kind) {
        boolean isReference = kind.equals("reference");
        double ofProbability = isReference ? 1e-8 : 1e-4;
        double ofLogit = isReference ? 1e-6 : 1e-4;
        GenerationGolden golden = GenerationGolden.named(name);
        double[][][] logits = golden.floats("logits.safetensors", "logits");
        try (HuggingFaceModel model = golden.model();
                Engine engine = isReference
                        ? new ReferenceEngine(DataType.FLOAT64)
                        : new CpuEngineProvider().open(new EngineSettings(DataType.FLOAT32, 2));
                Generator generator = new Generator(engine, model.spec(), model, 40)) {
            List<Continuation> texts = new ArrayList<>();
            golden.prompts().forEach(prompt -> texts.add(generator.begin(prompt, GREEDY)));
            for (int place = 0; place < golden.newTokens(); place++) {
                for (int prompt = 0; prompt < texts.size(); prompt++) { // a token of each text, so that slots alternate
                    Continuation text = texts.get(prompt);
                    String where = name + " prompt " + prompt + " token " + place;
                    int token = text.next();
                    assertEquals(golden.greedy().get(prompt)[place], token, where);
                    assertEquals(golden.logProbabilities("log_probabilities", prompt)[place],
                            text.probability(token).logProbability(), ofProbability, where);
                    assertEquals(text.probability(token), text.likeliest(1).getFirst());
                    assertArrayEquals(logits[prompt][place], text.logits(), ofLogit, where);
                }
            }
            texts.forEach(Continuation::close);
            for (int prompt = 0; prompt < golden.prompts().size(); prompt++) {
                int[] tokens = golden.prompts().get(prompt);
                if (tokens.length > 1) {
                    assertArrayEquals(golden.logProbabilities("prompt_log_probabilities", prompt),
                            generator.logProbabilities(tokens), ofProbability);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "llama", "mixtral", "qwen3"})
    void shouldDrawFromTheDistributionsOfTransformers(String name) {
        GenerationGolden golden = GenerationGolden.named(name);
        double[][][] logits = golden.floats("logits.safetensors", "logits");
        JsonNode settings = golden.expected().get("settings");
        for (int setting = 0; setting < settings.size(); setting++) {
            JsonNode one = settings.get(setting);
            Sampling sampling = new Sampling(one.get("temperature").asDouble(), one.get("top_k").asInt(),
                    one.get("top_p").asDouble(), 0, Sampling.Penalties.NONE, 1);
            double[][][] tables = golden.floats("tables.safetensors", "setting" + setting);
            for (int prompt = 0; prompt < tables.length; prompt++) {
                int length = golden.prompts().get(prompt).length;
                for (int place = 0; place < tables[prompt].length; place++) {
                    double[] expected = tables[prompt][place];
                    Sampler sampler = new Sampler(sampling, expected.length);
                    double[] found = sampler.distribution(logits[prompt][place], new int[0], 0, 0);
                    assertArrayEquals(expected, found, 1e-6, name + " setting " + one + " prompt " + prompt);
                    for (int token = 0; token < expected.length; token++) {
                        assertEquals(expected[token] == 0, found[token] == 0, "token " + token);
                    }
                    requireDraws(sampler, logits[prompt][place], found, length + place);
                }
            }
        }
    }

    /** Chi-squared with positions as the only difference: the draws follow the distribution, and never what it forbids. */
    private static void requireDraws(Sampler sampler, double[] logits, double[] distribution, int first) {
        int draws = 2000;
        int[] counts = new int[distribution.length];
        for (int draw = 0; draw < draws; draw++) {
            counts[sampler.draw(logits, new int[first + draw], first + draw, first + draw)]++;
        }
        double chiSquared = 0;
        int freedom = -1;
        for (int token = 0; token < counts.length; token++) {
            double expected = distribution[token] * draws;
            if (expected == 0) {
                assertEquals(0, counts[token]);
            } else {
                chiSquared += (counts[token] - expected) * (counts[token] - expected) / expected;
                freedom++;
            }
        }
        // six standard deviations of chi-squared: the seed is fixed, so this holds always or never
        double most = freedom + 6 * Math.sqrt(2.0 * Math.max(1, freedom));
        assertEquals(true, chiSquared <= most, "chi-squared " + chiSquared + " for " + freedom + " degrees");
    }
}
