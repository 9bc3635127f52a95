package dev.troupe.weights.gguf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelFamily;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.PublishedConfig;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.Section;
import dev.troupe.tokenizer.ByteTokenizer;
import dev.troupe.tokenizer.file.TokenizerException;
import dev.troupe.weights.WeightException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Parts that llama.cpp would read as something else are refused by name. */
@Tag("plan")
class GgufRefusalTest {
    @TempDir
    private Path directory;

    /** A family that llama.cpp does not compute. */
    private record Unknown() implements ModelFamily {
        @Override
        public String name() {
            return "unknown";
        }

        @Override
        public String title() {
            return "Unknown";
        }

        @Override
        public boolean separatesDocuments() {
            return false;
        }

        @Override
        public ModelSpec read(Section section) {
            return new ModelSpec(this, section, "", 0, Map.of(Axis.VOCABULARY, 900), List::of);
        }

        @Override
        public ModelSpec readPublished(PublishedConfig config) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void writePublished(ModelSpec model, ObjectNode config) {
            throw new UnsupportedOperationException();
        }

        @Override
        public List<String> publishedNames(String parameter) {
            return List.of(parameter);
        }
    }

    @Test
    void shouldNameAFamilyThatLlamaCppDoesNotCompute() {
        ModelSpec model = new Unknown().read(new Section(Map.of()));
        GgufVocabulary vocabulary = GgufVocabulary.read(GgufFileTest.tokenizer("gpt2"));
        assertEquals("a Unknown model cannot be written as GGUF, since llama.cpp does not compute the family: take"
                + " --format huggingface",
                assertThrows(WeightException.class, () -> GgufFile.of(model, GgufType.F16, vocabulary, ""))
                        .getMessage());
    }

    @Test
    void shouldNameATokenizerThatTheModelDoesNotKnow() {
        Path tokenizer = GgufFileTest.tokenizer("llama3");
        ModelSpec model = GgufFileTest.model("llama", Map.of("vocabulary-size", 889));
        GgufVocabulary vocabulary = GgufVocabulary.read(tokenizer);
        assertEquals("the tokenizer in " + tokenizer + " has 890 tokens, but the model has a vocabulary of 889:"
                + " llama.cpp needs the tokenizer that the model was trained with",
                assertThrows(TokenizerException.class, () -> GgufFile.of(model, GgufType.F16, vocabulary, ""))
                        .getMessage());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            gpt2   | "add_prefix_space": false | "add_prefix_space": true | pre_tokenizer is not of a form that
            qwen   | (?!\\\\S)                 | (?!\\\\s)                | pre_tokenizer is not of a form that
            smollm | "individual_digits": true | "individual_digits": false | pre_tokenizer is not of a form that
            qwen   | "ignore_merges": false    | "ignore_merges": true    | model.ignore_merges must be false since
            qwen   | "NFC"                     | "NFKC"                   | normalizer is NFKC, which llama.cpp does
            """)
    void shouldNameThePartOfATokenizer(String form, String sound, String changed, String sentence)
            throws IOException {
        String text = Files.readString(GgufFileTest.tokenizer(form).resolve("tokenizer.json"));
        assertEquals(true, text.contains(sound), sound);
        Path file = Files.writeString(directory.resolve("tokenizer.json"), text.replace(sound, changed));
        String refusal = refusal();
        assertEquals(file + ": " + sentence, refusal.substring(0, Math.min(refusal.length(),
                (file + ": " + sentence).length())), refusal);
    }

    @Test
    void shouldNameTokensThatLlamaCppCannotAdd() throws IOException {
        Files.copy(GgufFileTest.tokenizer("llama3").resolve("tokenizer.json"), directory.resolve("tokenizer.json"));
        assertEquals(directory + ": the post_processor of tokenizer.json puts the tokens [885] before a text, but"
                + " llama.cpp can put only the bos_token of tokenizer_config.json there", refusal());
        Files.delete(directory.resolve("tokenizer.json"));
        assertEquals(directory + " has no tokenizer.json, of which a GGUF file has its tokenizer", refusal());
    }

    /** llama.cpp has Llama 3's expression under a second name, for tokenizers that merge in every word. */
    @ParameterizedTest
    @CsvSource({"true, llama-bpe", "false, smaug-bpe"})
    void shouldNameTheSplitOfLlama3ByItsMerges(String ignoresMerges, String name) throws IOException {
        Path llama3 = GgufFileTest.tokenizer("llama3");
        Files.copy(llama3.resolve("tokenizer_config.json"), directory.resolve("tokenizer_config.json"));
        Files.writeString(directory.resolve("tokenizer.json"), Files.readString(llama3.resolve("tokenizer.json"))
                .replace("\"ignore_merges\": true", "\"ignore_merges\": " + ignoresMerges));
        ModelSpec model = GgufFileTest.model("llama", Map.of("key-value-heads", 2));
        Path path = directory.resolve("model.gguf");
        GgufFile.of(model, GgufType.F16, GgufVocabulary.read(directory), "small").write(path,
                new InitialWeights(model, 1));
        assertEquals(name, ReadGguf.of(path).metadata().get("tokenizer.ggml.pre"));
    }

    /** Without merges every byte is a token, so that any form does. */
    @Test
    void shouldTakeTheTokenizerOfBytes() throws IOException {
        for (Map.Entry<String, String> file : ByteTokenizer.files().entrySet()) {
            Files.writeString(directory.resolve(file.getKey()), file.getValue());
        }
        GgufMetadata metadata = new GgufMetadata();
        GgufVocabulary.read(directory).putInto(metadata, 256);
        assertEquals(7, metadata.count());
    }

    private String refusal() {
        return assertThrows(TokenizerException.class, () -> GgufVocabulary.read(directory)).getMessage();
    }
}
