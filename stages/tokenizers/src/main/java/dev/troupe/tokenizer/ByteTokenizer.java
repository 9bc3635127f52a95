package dev.troupe.tokenizer;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.tokenizer.huggingface.ByteAlphabet;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.OptionalInt;

/** A tokenizer with one token per UTF-8 byte. */
public final class ByteTokenizer implements Tokenizer {
    static final String NAME = "bytes";
    private static final int VOCABULARY_SIZE = 256;
    // No byte of UTF-8 has this value, so that a decoder replaces it by U+FFFD.
    private static final byte NO_CHARACTER = (byte) 0xFF;
    private static final JsonMapper JSON = new JsonMapper();

    /**
     * Returns the files of an equal tokenizer for Hugging Face's libraries, by name: a byte-level encoding without merges.
     */
    public static Map<String, String> files() {
        ObjectNode byteLevel = JSON.createObjectNode().put("type", "ByteLevel").put("add_prefix_space", false)
                .put("trim_offsets", true).put("use_regex", false);
        ObjectNode file = JSON.createObjectNode().put("version", "1.0");
        file.putArray("added_tokens");
        file.set("pre_tokenizer", byteLevel);
        file.set("decoder", byteLevel);
        ObjectNode model = file.putObject("model").put("type", "BPE").put("fuse_unk", false)
                .put("byte_fallback", false).put("ignore_merges", false);
        ObjectNode vocabulary = model.putObject("vocab");
        for (int id = 0; id < VOCABULARY_SIZE; id++) {
            vocabulary.put(String.valueOf(ByteAlphabet.letter(id)), id);
        }
        model.putArray("merges");
        ObjectNode settings = JSON.createObjectNode().put("tokenizer_class", "PreTrainedTokenizerFast")
                .put("clean_up_tokenization_spaces", false);
        return Map.of(HuggingFaceTokenizer.FILE, file.toPrettyString(), HuggingFaceTokenizer.SETTINGS,
                settings.toPrettyString());
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public int vocabularySize() {
        return VOCABULARY_SIZE;
    }

    @Override
    public OptionalInt endOfText() {
        return OptionalInt.empty();
    }

    @Override
    public int[] encode(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int[] ids = new int[bytes.length];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = Byte.toUnsignedInt(bytes[i]);
        }
        return ids;
    }

    @Override
    public String decode(int[] ids) {
        byte[] bytes = new byte[ids.length];
        for (int i = 0; i < ids.length; i++) {
            bytes[i] = ids[i] >= 0 && ids[i] < VOCABULARY_SIZE ? (byte) ids[i] : NO_CHARACTER;
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }

    @Override
    public boolean mayCut(char before, char after) {
        return true;
    }
}
