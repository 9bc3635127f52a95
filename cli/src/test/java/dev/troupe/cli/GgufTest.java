package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.generate.Generator;
import dev.troupe.generate.Sampling;
import dev.troupe.model.ModelSpec;
import dev.troupe.tokenizer.Tokenizer;
import dev.troupe.weights.gguf.GgufFile;
import dev.troupe.weights.gguf.GgufType;
import dev.troupe.weights.gguf.GgufVocabulary;
import dev.troupe.weights.huggingface.HuggingFaceModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * llama.cpp reads exported models, makes the same tokens of a text, and writes on from it as Troupe does. It rounds
 * activations to the type of the weights, which changes its text from some token on: of bf16 and q8_0 only the
 * first tokens are compared here, and {@code GgufFileTest} holds their numbers in the file.
 */
@Tag("parity")
@Dealt(2)
@Timeout(120)
class GgufTest {
    private static final String PROMPT = "It's 1234 o'clock, and\n\n the café is  closed: 你好!";
    private static final int COUNT = 24;
    private static final int POSITIONS = 64;

    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            llama | llama3 | f32 | key-value-heads=2, rotary-base=500000.0, rotary-factor=8.0, rotary-original-length=16
            gpt2 | gpt2 | f32 | tie-embeddings=true
            llama | smollm | q8_0 | key-value-heads=2
            """)
    void shouldBeReadByLlamaCpp(String family, String form, String type, String more) throws Exception {
        check(family, form, type, more);
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            llama | smollm | f32 | key-value-heads=1, tie-embeddings=true, head-size=32
            qwen2 | qwen | f32 | key-value-heads=2
            gpt2 | gpt2 | f32 | norm-epsilon=0.1
            llama | qwen | f16 | key-value-heads=2
            llama | gpt2 | bf16 | key-value-heads=2
            gpt2 | llama3 | q8_0 | tie-embeddings=true
            """)
    void shouldBeReadByLlamaCppInEachForm(String family, String form, String type, String more) throws Exception {
        check(family, form, type, more);
    }

    private void check(String family, String form, String type, String more) throws Exception {
        ModelSpec model = SmallModel.write(directory, family, form, settings(more));
        Path file = directory.resolve("model.gguf");
        Tokenizer tokenizer = Tokenizer.named(directory.toString(), true);
        int[] prompt = tokenizer.encode(PROMPT);
        int[] whole = IntStream.concat(Arrays.stream(tokenizer.beforeText()), Arrays.stream(prompt)).toArray();
        try (HuggingFaceModel weights = HuggingFaceModel.open(directory);
                Engine engine = new ReferenceEngine(DataType.FLOAT32);
                Generator generator = new Generator(engine, model, weights, POSITIONS)) {
            GgufFile gguf = GgufFile.of(model, GgufType.valueOf(type.toUpperCase(Locale.ROOT)),
                    GgufVocabulary.read(directory), "small");
            gguf.write(file, weights);
            assertEquals(gguf.byteCount(), Files.size(file));
            LlamaCpp found = LlamaCpp.write(file, PROMPT, COUNT);
            assertEquals(Arrays.stream(prompt).boxed().toList(), found.ids());
            int[] text = generator.generate(whole, COUNT, new Sampling(0, 0, 0));
            int alike = switch (type) {
                case "f32", "f16" -> COUNT;
                case "bf16" -> 4;
                default -> 1;
            };
            if (alike == COUNT) {
                assertEquals(tokenizer.decode(text), found.text());
            } else {
                String begin = tokenizer.decode(Arrays.copyOf(text, alike));
                assertTrue(found.text().startsWith(begin), begin + " and " + found.text());
                assertTrue(found.text().length() > COUNT, found.text());
            }
        }
    }

    private static Map<String, Object> settings(String text) {
        Map<String, Object> settings = new HashMap<>();
        for (String setting : text.split(", ")) {
            String value = setting.substring(setting.indexOf('=') + 1);
            settings.put(setting.substring(0, setting.indexOf('=')), value.equals("true")
                    ? Boolean.TRUE
                    : value.contains(".") ? (Object) Double.valueOf(value) : Integer.valueOf(value));
        }
        return settings;
    }
}
