package dev.troupe.generate;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cpu.CpuEngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.layer.MicrobatchContext;
import dev.troupe.layer.cache.CachedRows;
import dev.troupe.layer.cache.KeyValueCache;
import dev.troupe.model.ModelFamily;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.Lora;
import dev.troupe.model.spec.Section;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A text that is continued row by row, compared with a forward over all of it. */
@Tag("parity")
class KeyValueCacheTest {
    private static final int PLACES = 23;
    private static final int VOCABULARY = 37;

    @ParameterizedTest
    @CsvSource({"gpt2, 1", "llama, 7", "qwen2, 22", "qwen3, 5", "mixtral, 9", "qwen3_moe, 3", "glm4_moe, 6"})
    void shouldHaveTheLogitsOfAForwardOverTheWholeText(String family, int prompt) {
        try (Engine reference = new ReferenceEngine(DataType.FLOAT64);
                Engine cpu = new CpuEngineProvider().open(new EngineSettings(DataType.FLOAT32, 2))) {
            requireSameLogits(reference, family, prompt, 1e-12);
            requireSameLogits(cpu, family, prompt, 1e-5);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "llama"})
    void shouldHaveThemInBfloat16(String family) {
        try (Engine cpu = new CpuEngineProvider()
                .open(new EngineSettings(DataType.FLOAT32, DataType.BFLOAT16, 1))) {
            requireSameLogits(cpu, family, 4, 2e-2);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "llama", "qwen2", "qwen3", "mixtral"})
    void shouldTakeTheSameTokens(String family) {
        ModelSpec model = model(family);
        Sampling greedy = new Sampling(0, 0, 0);
        try (Engine engine = new ReferenceEngine(DataType.FLOAT64);
                Generator generator = new Generator(engine, model, KeyValueCacheTest::read, 9)) {
            int[] text = {3, 1, 4, 1};
            int[] expected = new int[8];
            for (int i = 0; i < expected.length; i++) {
                expected[i] = generator.generate(text, 1, greedy)[0];
                text = Arrays.copyOf(text, text.length + 1);
                text[text.length - 1] = expected[i];
            }
            assertArrayEquals(expected, generator.generate(new int[]{3, 1, 4, 1}, expected.length, greedy));
        }
    }

    private static void requireSameLogits(Engine engine, String family, int prompt, double tolerance) {
        ModelSpec model = model(family);
        int[] text = IntStream.range(0, PLACES).map(i -> (i * i + 3) % VOCABULARY).toArray();
        double[][] expected = whole(engine, model, text);
        double largest = Arrays.stream(expected).flatMapToDouble(Arrays::stream).map(Math::abs).max().orElseThrow();
        double[][] found = rowByRow(engine, model, text, prompt);
        for (int row = prompt - 1; row < PLACES; row++) {
            assertArrayEquals(expected[row], found[row], tolerance * largest, engine.kind() + " row " + row);
        }
        assertEquals(0, engine.allocatedBytes());
    }

    private static double[][] whole(Engine engine, ModelSpec model, int[] text) {
        try (Evaluator evaluator = new Evaluator(engine, model, KeyValueCacheTest::read, PLACES)) {
            MemorySegment logits = MemorySegment.ofArray(new long[PLACES * VOCABULARY]);
            int bytes = engine.parameterType().elementBytes();
            evaluator.logitsOf(new MicrobatchRows(text, text),
                    logits.asSlice(0, (long) PLACES * VOCABULARY * bytes));
            double[][] rows = new double[PLACES][];
            for (int row = 0; row < PLACES; row++) {
                rows[row] = numbers(engine, logits.asSlice((long) row * VOCABULARY * bytes));
            }
            return rows;
        }
    }

    private static double[][] rowByRow(Engine engine, ModelSpec model, int[] text, int prompt) {
        double[][] rows = new double[PLACES][];
        try (ModelLayers layers = new ModelLayers(engine, model, KeyValueCacheTest::read, PLACES);
                SequenceForward first = layers.ofLength(prompt);
                SequenceForward one = layers.ofLength(1);
                KeyValueCache cache = new KeyValueCache(engine, PLACES)) {
            rows[prompt - 1] = logits(engine, first, Arrays.copyOf(text, prompt), cache);
            for (int place = prompt; place < PLACES; place++) {
                rows[place] = logits(engine, one, new int[]{text[place]}, cache);
            }
        }
        return rows;
    }

    private static double[] logits(Engine engine, SequenceForward forward, int[] tokens, KeyValueCache cache) {
        CachedRows rows = new CachedRows(engine, List.of(new CachedRows.Text(cache, tokens.length)));
        Tensor x = forward.beforeHead(tokens, MicrobatchContext.continuing(rows));
        rows.advance();
        int hidden = x.shape().size(1);
        Tensor logits = forward.pool().takeFloats(Shape.of(1, VOCABULARY));
        forward.head().logitsOfRows(engine.range(x, (tokens.length - 1L) * hidden, Shape.of(1, hidden)), logits);
        MemorySegment host = MemorySegment.ofArray(new long[VOCABULARY]);
        engine.copyToHost(logits, 0, host.asSlice(0, logits.byteCount()));
        forward.pool().give(logits);
        forward.pool().give(x);
        return numbers(engine, host);
    }

    private static double[] numbers(Engine engine, MemorySegment host) {
        return IntStream.range(0, VOCABULARY)
                .mapToDouble(i -> engine.parameterType() == DataType.FLOAT64
                        ? host.getAtIndex(ValueLayout.JAVA_DOUBLE_UNALIGNED, i)
                        : host.getAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i))
                .toArray();
    }

    /** Rotary ones have six heads, three of which share keys and values each, and adapters. */
    private static ModelSpec model(String name) {
        Map<String, Object> section = new HashMap<>(Map.of("layers", 2, "hidden", 24, "heads", 6, "sequence-length",
                PLACES, "vocabulary-size", VOCABULARY, "tie-embeddings", true));
        ModelFamily family = ModelFamilies.named(name);
        if (name.equals("gpt2")) {
            return family.read(new Section(section));
        }
        section.put("key-value-heads", 2);
        section.put("inner", 40);
        if (!name.equals("llama") && !name.equals("qwen2") && !name.equals("qwen3")) {
            section.put("experts", 5);
            section.put("experts-per-token", 3);
        }
        return family.adapted(family.read(new Section(section)), new Lora(3, 6, List.of(Lora.ALL_LINEAR), ""));
    }

    /** Larger than the initial weights of training, which would leave little but the token itself; B of adapters too. */
    private static void read(String name, Shape shape, DataType type, MemorySegment target) {
        Random random = new Random(name.hashCode());
        for (long i = 0; i < shape.elementCount(); i++) {
            double value = 0.4 * random.nextGaussian();
            if (type == DataType.FLOAT64) {
                target.setAtIndex(ValueLayout.JAVA_DOUBLE_UNALIGNED, i, value);
            } else {
                target.setAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i, (float) value);
            }
        }
    }
}
