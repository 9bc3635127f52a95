package dev.troupe.weights.huggingface;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Configurations of a GPT-2 model that are refused. */
@Tag("parity")
class RefusedConfigTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "\"gpt2\" | \"bert\" | model_type must be \"gpt2\", \"llama\", \"qwen2\", \"qwen3\", \"mixtral\", \"qwen3_moe\" or \"glm4_moe\", but found"
                    + " \"\"bert\"\"",
            "\"gelu_new\" | \"relu\" | activation_function must be one of [gelu_new, gelu_pytorch_tanh], as nothing"
                    + " else is computed here, but found \"\"relu\"\"",
            "\"n_layer\": 4 | \"n_layer\": 0 | n_layer must be a whole number of at least 1, but found \"0\"",
            "\"n_embd\": 32 | \"n_embd\": 3.5 | n_embd must be a whole number of at least 1, but found \"3.5\"",
            "\"vocab_size\": 64 | \"v\": 64 | vocab_size must be a whole number of at least 1, but is missing",
            "\"n_ctx\": 16 | \"n_ctx\": 8 | n_ctx must be n_positions = 16, but found \"8\"",
            "\"n_ctx\": 16 | \"n_inner\": 64 | n_inner must be null or 4 x n_embd = 128, but found \"64\"",
            "\"n_ctx\": 16 | \"scale_attn_weights\": false | scale_attn_weights must be true, as nothing else is"
                    + " computed here, but found \"false\"",
            "\"n_ctx\": 16 | \"scale_attn_by_inverse_layer_idx\": true | scale_attn_by_inverse_layer_idx must be"
                    + " false, as nothing else is computed here, but found \"true\"",
            "\"tie_word_embeddings\": true | \"tie_word_embeddings\": 1 | tie_word_embeddings must be true or false,"
                    + " but found \"1\"",
            "1e-05 | -1 | layer_norm_epsilon must be a number above 0, but found \"-1\""})
    void shouldRefuseFeaturesThatAreNotComputed(String sound, String changed, String sentence) throws Exception {
        HuggingFaceModelTest.copyConfig(directory, text -> {
            assertTrue(text.contains(sound), sound);
            return text.replace(sound, changed);
        });
        assertEquals(
                directory.resolve("config.json") + ": " + sentence
                        + "; use a GPT-2, Llama, Qwen2, Qwen3, Mixtral, Qwen3-MoE or GLM-4.5 model that has it so",
                HuggingFaceModelTest.refusal(directory));
    }

    @Test
    void shouldRefuseHeadsThatDoNotDivideTheWidth() throws Exception {
        HuggingFaceModelTest.copyConfig(directory, text -> text.replace("\"n_head\": 4", "\"n_head\": 5"));
        assertEquals(directory.resolve("config.json") + ": n_embd must be divisible by n_head, but found 32 and 5",
                HuggingFaceModelTest.refusal(directory));
    }

    @Test
    void shouldRefuseAConfigurationThatIsNotJson() throws Exception {
        Path config = directory.resolve("config.json");
        HuggingFaceModelTest.copyConfig(directory, text -> text.substring(0, 20));
        assertTrue(
                HuggingFaceModelTest.refusal(directory)
                        .startsWith(config + " must be JSON with unique keys: line 2, column 19: "),
                HuggingFaceModelTest.refusal(directory));
        HuggingFaceModelTest.copyConfig(directory, _ -> "");
        assertEquals(config + " must hold one JSON object, but holds nothing", HuggingFaceModelTest.refusal(directory));
    }
}
