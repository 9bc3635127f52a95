package dev.troupe.plan.checkpoint;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.type.LogicalType;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.Section;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.checkpoint.CheckpointPart;
import dev.troupe.tokenizer.file.BoundedFile;
import dev.troupe.tokenizer.file.JsonDefect;
import dev.troupe.weights.Wording;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The content of {@code manifest.json}.
 *
 * @param products the libraries of matrix products that computed it, as {@link EngineSettings#products}
 * @param replicas the ranks of each stage; empty if each had one. With replicas, stages may have had different numbers of
 *     updates.
 */
record Manifest(@JsonProperty(required = true) int format,
        @JsonProperty(value = "steps_done", required = true) long stepsDone,
        @JsonProperty(required = true) Model model,
        @JsonProperty(value = "loss_scale", required = true) LossScale lossScale,
        @JsonProperty(required = true) String products,
        @JsonProperty(required = true) List<CheckpointPart> parts,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Integer> replicas) {
    static final String FILE = "manifest.json";
    /** The file format that this version writes. */
    static final int FORMAT = 4;
    /** The oldest format that can be read; it has no loss scale. */
    static final int OLDEST_FORMAT = 1;
    /** The last format that names no family; it has other keys for the section's values. */
    private static final int LAST_WITHOUT_FAMILY = 2;
    /** The last format that names no libraries of matrix products; there was one for each engine. */
    private static final int LAST_WITHOUT_PRODUCTS = 3;
    private static final Map<String, String> FORMER_KEYS = Map.of("sequenceLength", "sequence-length",
            "vocabularySize", "vocabulary-size", "tiedEmbeddings", "tie-embeddings", "normEpsilon", "norm-epsilon");

    private static final Pattern PART = Pattern.compile("rank-\\d{3,}\\.safetensors");
    private static final Pattern SHA_256 = Pattern.compile("[0-9a-f]{64}");
    private static final int LONGEST_PRODUCTS = 1000;
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES,
                    DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES,
                    DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES,
                    DeserializationFeature.FAIL_ON_NUMBERS_FOR_ENUMS,
                    DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT).disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .withCoercionConfig(LogicalType.Textual,
                    texts -> texts.setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                            .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
                            .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail))
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).addMixIn(LossScale.class, SnakeCase.class).build();

    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    private interface SnakeCase {
    }

    record Model(@JsonProperty(required = true) String family,
            @JsonProperty(required = true) Map<String, Object> section) {
        static Model of(ModelSpec spec) {
            return new Model(spec.family().name(), spec.section().values());
        }

        ModelSpec spec() {
            Section given = new Section(section);
            ModelSpec spec = ModelFamilies.named(family).read(given);
            if (!spec.section().equals(given)) {
                throw new IllegalArgumentException("its model must have " + spec.section().values().keySet()
                        + ", but has " + given.values().keySet());
            }
            if (spec.blockCount() > ModelSpec.MOST_BLOCKS) { // before a list of them is made
                throw new IllegalArgumentException("its model has " + spec.blockCount()
                        + " blocks, and a model has at most " + ModelSpec.MOST_BLOCKS);
            }
            return spec;
        }
    }

    Manifest {
        if (stepsDone < 0 || parts.isEmpty()) {
            throw new IllegalArgumentException(
                    "steps_done must be at least 0 and parts at least 1, but found " + stepsDone
                            + " and " + parts.size());
        }
        if (lossScale.updates() > stepsDone || lossScale.goodSteps() > lossScale.updates()
                || lossScale.skipsInRow() > stepsDone - lossScale.updates()) {
            throw new IllegalArgumentException("of steps_done = " + stepsDone + " each is an update or skipped, but"
                    + " loss_scale has " + lossScale.updates() + " updates, " + lossScale.goodSteps()
                    + " good steps and " + lossScale.skipsInRow() + " skips in a row");
        }
        if (products.length() > LONGEST_PRODUCTS || products.chars().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("products must be names of libraries in a line of at most "
                    + LONGEST_PRODUCTS + " characters");
        }
        if (replicas.stream().anyMatch(count -> count == null || count < 1 || count > Edge.MAX_INDEX)) {
            throw new IllegalArgumentException("replicas must be numbers of ranks from 1 to " + Edge.MAX_INDEX
                    + ", but are " + replicas);
        }
        parts.forEach(Manifest::requireSound);
        if (parts.stream().map(CheckpointPart::file).distinct().count() < parts.size()) {
            throw new IllegalArgumentException("a file is listed twice among its parts");
        }
        parts = List.copyOf(parts);
        replicas = List.copyOf(replicas);
    }

    /** Refuses also a name that leads out of the directory. */
    private static void requireSound(CheckpointPart part) {
        if (part == null || !PART.matcher(part.file()).matches()) {
            throw new IllegalArgumentException("it names a part \"" + (part == null ? null : part.file())
                    + "\", but parts have names such as rank-000.safetensors");
        }
        if (part.byteCount() < 0 || !SHA_256.matcher(part.sha256()).matches()) {
            throw new IllegalArgumentException("its part " + part.file()
                    + " must have a size and a SHA-256 of 64 digits, but has " + part.byteCount() + " and "
                    + Wording.quoted(part.sha256()));
        }
    }

    /**
     * Reads the manifest of a checkpoint.
     *
     * @throws DamageException if it is missing or cannot be read
     * @throws CheckpointException if it is of another version
     */
    static Manifest read(Path directory) {
        Path file = directory.resolve(FILE);
        if (!Files.exists(file)) {
            throw DamageException.missing(file);
        }
        try {
            JsonNode tree = JSON.readTree(BoundedFile.bytes(file));
            if (!tree.isObject()) {
                throw DamageException.damaged(file, "it is no JSON object", null);
            }
            JsonNode format = tree.path("format"); // first, since another format may have other keys
            if (format.isIntegralNumber() && (format.longValue() < OLDEST_FORMAT || format.longValue() > FORMAT)) {
                throw new CheckpointException(file + " has format " + format + ", but this version reads "
                        + OLDEST_FORMAT + " to " + FORMAT + ": resume it with the version that wrote it");
            }
            if (format.longValue() == OLDEST_FORMAT && !tree.has("loss_scale")) {
                // In that version every step was an update.
                ((ObjectNode) tree).set("loss_scale",
                        JSON.valueToTree(LossScale.none(tree.path("steps_done").longValue())));
            }
            if (format.longValue() <= LAST_WITHOUT_FAMILY && tree.path("model") instanceof ObjectNode former) {
                ((ObjectNode) tree).set("model", withFamily(former));
            }
            if (format.longValue() <= LAST_WITHOUT_PRODUCTS && !tree.has("products")) {
                ((ObjectNode) tree).put("products", EngineSettings.OWN_PRODUCTS);
            }
            if (!tree.has("replicas")) {
                ((ObjectNode) tree).putArray("replicas");
            }
            Manifest manifest = JSON.treeToValue(tree, Manifest.class);
            manifest.model().spec();
            return manifest;
        } catch (JsonProcessingException failure) {
            throw DamageException.damaged(file, JsonDefect.of(failure), failure);
        } catch (IllegalArgumentException noModel) {
            throw DamageException.damaged(file, noModel.getMessage(), noModel);
        } catch (IOException failure) {
            throw DamageException.unreadable(file, failure);
        }
    }

    private static ObjectNode withFamily(ObjectNode former) {
        ObjectNode section = JSON.createObjectNode();
        former.properties()
                .forEach(value -> section.set(FORMER_KEYS.getOrDefault(value.getKey(), value.getKey()),
                        value.getValue()));
        ObjectNode model = JSON.createObjectNode().put("family", ModelFamilies.original().name());
        model.set("section", section);
        return model;
    }

    String toJson() throws JsonProcessingException {
        return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(this);
    }
}
