package dev.troupe.weights;

import static dev.troupe.weights.Wording.quoted;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.tokenizer.file.JsonDefect;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * The JSON header of a safetensors file, read and checked against the bytes that follow it. Source: the format's description
 * at huggingface.co/docs/safetensors: keys are unique, the data is indexed entirely, and tensors neither overlap nor leave
 * holes.
 *
 * @param tensors by name, in the order of their data
 * @param metadata the text entries of {@code __metadata__}
 */
record SafeTensorsHeader(SequencedMap<String, StoredTensor> tensors, Map<String, String> metadata) {
    static final String METADATA = "__metadata__";

    private static final String REMEDY = "; copy or download the file again";
    private static final Set<String> FIELDS = Set.of("dtype", "shape", "data_offsets");
    private static final JsonMapper JSON = JsonMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    SafeTensorsHeader {
        tensors = Collections.unmodifiableSequencedMap(tensors);
        metadata = Collections.unmodifiableMap(metadata);
    }

    /**
     * Reads and checks a header.
     *
     * @param file for messages
     * @param dataBytes the number of bytes after it in the file
     */
    static SafeTensorsHeader parse(Path file, byte[] bytes, long dataBytes) {
        if (bytes.length == 0 || bytes[0] != '{') {
            throw new WeightException(file + ": the header of a safetensors file must begin with '{', but found "
                    + (bytes.length == 0 ? "nothing" : String.format(Locale.ROOT, "byte 0x%02x", bytes[0])) + REMEDY);
        }
        Map<String, StoredTensor> tensors = new LinkedHashMap<>();
        Map<String, String> metadata = new TreeMap<>();
        try (JsonParser parser = JSON.createParser(decode(file, bytes))) {
            parser.nextToken();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String name = parser.currentName();
                parser.nextToken();
                JsonNode value = parser.readValueAsTree();
                if (name.equals(METADATA)) {
                    readMetadata(file, value, metadata);
                } else {
                    tensors.put(name, readTensor(file, name, value, dataBytes));
                }
            }
            if (parser.nextToken() != null) {
                throw new WeightException(file + ": the header must be one JSON object, but more follows it" + REMEDY);
            }
        } catch (IOException malformed) {
            throw new WeightException(
                    file + ": the header must be JSON with unique keys, but " + firstLine(malformed) + REMEDY,
                    malformed);
        }
        return new SafeTensorsHeader(inOrderOfData(file, tensors, dataBytes), metadata);
    }

    private static String decode(Path file, byte[] bytes) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException malformed) {
            throw new WeightException(file + ": the header of a safetensors file must be UTF-8, but it is not" + REMEDY,
                    malformed);
        }
    }

    private static String firstLine(IOException malformed) {
        return malformed instanceof JsonProcessingException json
                ? "found: " + JsonDefect.wordsOf(json)
                : "it is not";
    }

    private static void readMetadata(Path file, JsonNode value, Map<String, String> metadata) {
        if (value.isNull()) {
            return; // the format's own library reads it as no metadata
        }
        if (!value.isObject()) {
            throw new WeightException(file + ": " + METADATA + " must be an object of texts, but found "
                    + quoted(value.toString()) + REMEDY);
        }
        value.forEachEntry((key, text) -> {
            if (!text.isTextual()) {
                throw new WeightException(file + ": every entry of " + METADATA + " must be a text, but "
                        + quoted(key) + " is " + quoted(text.toString()) + REMEDY);
            }
            metadata.put(key, text.textValue());
        });
    }

    private static StoredTensor readTensor(Path file, String name, JsonNode value, long dataBytes) {
        String where = file + ": tensor " + quoted(name);
        if (!value.isObject()) {
            throw new WeightException(where + " must be described by an object, but found " + quoted(value.toString())
                    + REMEDY);
        }
        value.fieldNames().forEachRemaining(field -> {
            if (!FIELDS.contains(field)) {
                throw new WeightException(
                        where + " must have dtype, shape and data_offsets and nothing else, but found "
                                + quoted(field) + REMEDY);
            }
        });
        JsonNode dtype = value.path("dtype");
        StoredType type = StoredType.named(dtype.asText())
                .orElseThrow(() -> new WeightException(where + " must have one of the dtypes "
                        + List.of(StoredType.values()) + ", but found " + quoted(dtype.asText())
                        + "; save it again as one of those"));
        List<Long> sizes = wholeNumbers(where + " must have a shape of whole numbers of at least 0",
                value.path("shape"));
        List<Long> offsets = wholeNumbers(where + " must have data_offsets [begin, end] of at least 0",
                value.path("data_offsets"));
        if (offsets.size() != 2) {
            throw new WeightException(
                    where + " must have two data_offsets, begin and end, but found " + offsets + REMEDY);
        }
        StoredTensor tensor = new StoredTensor(name, type, sizes, offsets.getFirst(), offsets.getLast());
        checkBytes(where, tensor, dataBytes);
        return tensor;
    }

    private static List<Long> wholeNumbers(String expected, JsonNode array) {
        if (!array.isArray()) {
            throw new WeightException(expected + ", but found " + quoted(array.toString()) + REMEDY);
        }
        List<Long> numbers = new ArrayList<>(array.size());
        for (JsonNode number : array) {
            if (!number.isIntegralNumber() || !number.canConvertToLong() || number.longValue() < 0) {
                throw new WeightException(expected + ", but found " + quoted(array.toString()) + REMEDY);
            }
            numbers.add(number.longValue());
        }
        return numbers;
    }

    private static void checkBytes(String where, StoredTensor tensor, long dataBytes) {
        if (tensor.begin() > tensor.end()) {
            throw new WeightException(where + " must begin before it ends, but its data_offsets are [" + tensor.begin()
                    + ", " + tensor.end() + "]" + REMEDY);
        }
        if (tensor.end() > dataBytes) {
            throw new WeightException(where + " ends at byte " + tensor.end() + " of the data, but the file holds only "
                    + dataBytes + " bytes of data: it is truncated or its offsets are wrong" + REMEDY);
        }
        long expectedBits = tensor.type().elementBits();
        try {
            for (long size : tensor.sizes()) {
                expectedBits = Math.multiplyExact(expectedBits, size);
            }
        } catch (ArithmeticException overflow) {
            throw new WeightException(
                    where + " has shape " + tensor.shapeText() + ", which is more bytes than a file can hold" + REMEDY,
                    overflow);
        }
        if (expectedBits % Byte.SIZE != 0 || expectedBits / Byte.SIZE != tensor.byteCount()) {
            throw new WeightException(where + " of shape " + tensor.shapeText() + " and dtype " + tensor.type()
                    + " must have " + Math.ceilDiv(expectedBits, Byte.SIZE) + " bytes, but its data_offsets span "
                    + tensor.byteCount() + REMEDY);
        }
    }

    private static SequencedMap<String, StoredTensor> inOrderOfData(Path file, Map<String, StoredTensor> tensors,
            long dataBytes) {
        List<StoredTensor> ordered = new ArrayList<>(tensors.values());
        ordered.sort(Comparator.comparingLong(StoredTensor::begin).thenComparingLong(StoredTensor::end)
                .thenComparing(StoredTensor::name));
        SequencedMap<String, StoredTensor> result = new LinkedHashMap<>();
        long next = 0;
        for (StoredTensor tensor : ordered) {
            if (tensor.begin() != next) {
                throw new WeightException(file + ": tensor " + quoted(tensor.name()) + " must begin at byte " + next
                        + " of the data, the end of the one before it, but begins at " + tensor.begin()
                        + (tensor.begin() < next ? ": the two overlap" : ": there is a hole between them") + REMEDY);
            }
            next = tensor.end();
            result.put(tensor.name(), tensor);
        }
        if (next != dataBytes) {
            throw new WeightException(file + ": the tensors use " + next + " bytes of data, but the file holds "
                    + dataBytes + ": the rest belongs to no tensor" + REMEDY);
        }
        return result;
    }
}
