package dev.troupe.weights.huggingface;

import static dev.troupe.weights.Wording.quoted;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.tokenizer.file.BoundedFile;
import dev.troupe.tokenizer.file.FileReason;
import dev.troupe.tokenizer.file.JsonDefect;
import dev.troupe.weights.WeightException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** The index of a model's safetensors files by tensor. */
final class ShardIndex {
    /** The suffix of an index, after the name of the file that the shards replace. */
    static final String SUFFIX = ".index.json";
    static final String FILE_NAME = "model.safetensors" + SUFFIX;

    static final String WEIGHT_MAP = "weight_map";
    private static final JsonMapper JSON = JsonMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

    private ShardIndex() {
    }

    /** Returns the name of a file next to the index, by tensor. */
    static Map<String, String> read(Path index) {
        JsonNode map;
        try {
            map = JSON.readTree(BoundedFile.bytes(index)).path(WEIGHT_MAP);
        } catch (JsonProcessingException malformed) {
            throw new WeightException(index + " must be JSON with unique keys, but found: "
                    + JsonDefect.wordsOf(malformed), malformed);
        } catch (IOException failure) {
            throw new WeightException("cannot read " + index + ": " + FileReason.of(failure), failure);
        }
        if (!map.isObject()) {
            throw new WeightException(index + ": " + WEIGHT_MAP + " must be an object of file names, but "
                    + (map.isMissingNode() ? "is missing" : "found " + quoted(map.toString())));
        }
        Map<String, String> fileOfTensor = new LinkedHashMap<>();
        map.forEachEntry((tensor, file) -> {
            // A name with a path in it could reach out of the directory.
            if (!file.isTextual() || !file.textValue().matches("[\\w.-]+\\.safetensors")) {
                throw new WeightException(index + ": tensor " + quoted(tensor)
                        + " must lie in a .safetensors file of the same directory, but found "
                        + quoted(file.toString()));
            }
            fileOfTensor.put(tensor, file.textValue());
        });
        return fileOfTensor;
    }
}
