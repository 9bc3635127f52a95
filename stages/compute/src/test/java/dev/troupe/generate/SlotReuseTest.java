package dev.troupe.generate;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cpu.CpuEngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.Section;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Slots that a thousand texts use one after another. Their caches are filled with NaN before each use. */
@Tag("parity")
class SlotReuseTest {
    private static final int PLACES = 61;
    private static final int WIDTH = 8;
    private static final int VOCABULARY = 23;
    private static final int SLOTS = 4;
    private static final int ROUNDS = 250;
    private static final int PROMPTS = 12;

    private final List<Tensor> cached = new ArrayList<>();

    @Test
    void shouldLeakNothing() {
        ModelSpec model = ModelFamilies.named("llama").read(new Section(Map.of("layers", 2, "hidden", 16, "heads", 4,
                "key-value-heads", 2, "inner", 24, "sequence-length", PLACES, "vocabulary-size", VOCABULARY,
                "tie-embeddings", true)));
        Random random = new Random(3);
        List<int[]> prompts = IntStream.range(0, PROMPTS)
                .mapToObj(_ -> random.ints(1 + random.nextInt(9), 0, VOCABULARY).toArray()).toList();
        Map<Integer, int[]> alone = new HashMap<>();
        try (Engine engine = new CpuEngineProvider()
                .open(new EngineSettings(DataType.FLOAT32, 1).withExactRows(true));
                Generator generator = new Generator(recording(engine), model, new InitialWeights(model, 1), PLACES,
                        7)) {
            for (int prompt = 0; prompt < PROMPTS; prompt++) {
                alone.put(prompt, generator.generate(prompts.get(prompt), lengthOf(prompt), sampling(prompt)));
            }
            for (int round = 0; round < ROUNDS; round++) {
                cached.forEach(tensor -> engine.fill(tensor, Double.NaN));
                List<Integer> numbers = random.ints(SLOTS, 0, PROMPTS).boxed().toList();
                List<Continuation> texts = numbers.stream()
                        .map(number -> generator.begin(prompts.get(number), sampling(number))).toList();
                List<Continuation> open = new ArrayList<>(texts);
                while (!open.isEmpty()) {
                    generator.read(open);
                    for (Continuation text : List.copyOf(open)) {
                        if (text.isReady()) {
                            text.draw();
                            if (text.count() == lengthOf(numbers.get(texts.indexOf(text)))) {
                                open.remove(text);
                            }
                        }
                    }
                }
                for (int slot = 0; slot < SLOTS; slot++) {
                    assertArrayEquals(alone.get(numbers.get(slot)), texts.get(slot).written(),
                            "round " + round + " slot " + slot + " of " + numbers);
                }
                texts.forEach(Continuation::close);
            }
            assertEquals(2 * 2 * SLOTS, cached.size(), "keys and values of two blocks in each slot");
        }
    }

    private static int lengthOf(int prompt) {
        return 1 + prompt % 5;
    }

    private static Sampling sampling(int prompt) {
        return new Sampling(1, 0, prompt);
    }

    /** Returns the engine, with a note of the tensors that have the shape of a cache. */
    private Engine recording(Engine engine) {
        return (Engine) Proxy.newProxyInstance(Engine.class.getClassLoader(), new Class<?>[]{Engine.class},
                (_, method, arguments) -> {
                    try {
                        Object result = method.invoke(engine, arguments);
                        if (method.getName().equals("allocate")
                                && Arrays.asList(arguments).contains(Shape.of(PLACES, WIDTH))) {
                            cached.add((Tensor) result);
                        }
                        return result;
                    } catch (InvocationTargetException failed) {
                        throw failed.getCause();
                    }
                });
    }
}
