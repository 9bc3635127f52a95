package dev.troupe.weights.huggingface;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.PublishedConfig;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.tokenizer.file.FileReason;
import dev.troupe.tokenizer.file.WholeFile;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.SafeTensorsWriter;
import dev.troupe.weights.WeightException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The writer of a model in its family's published form, in one file of weights or in several with an index. */
public final class HuggingFaceWriter {
    /** The default limit on the bytes of a file of weights, as in transformers 4. */
    public static final long USUAL_SHARD_BYTES = 5_000_000_000L;

    private static final JsonMapper JSON = JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();
    private static final Set<DataType> FLOATS = EnumSet.of(DataType.FLOAT32, DataType.FLOAT64, DataType.BFLOAT16);
    private static final Pattern WEIGHT_FILE = Pattern
            .compile("model(-\\d{5}-of-\\d{5})?\\.safetensors(\\.index\\.json)?");
    /** Special tokens by their ids, which belong to a configuration but not to a model's declaration. */
    private static final List<String> TOKEN_IDS = List.of("bos_token_id", "eos_token_id", "pad_token_id");

    private HuggingFaceWriter() {
    }

    /**
     * Writes a model; a shared parameter once. One tensor at a time is in memory. All files are on the disk under temporary
     * names before one takes its place. {@code config.json} is deleted first and written last, so that a directory that has
     * one is whole.
     *
     * @param directory created if it does not exist; its model is replaced, other files stay
     * @param tensors exactly the {@link ModelSpec#parameters}, all of one type: FLOAT32, FLOAT64 or BFLOAT16
     * @param shardBytes the most bytes of tensors in a file; a larger tensor has a file of its own
     * @param companions a directory of {@link CompanionFiles}, which are copied; empty for none
     * @throws WeightException if the files cannot be written; an earlier model is then untouched, unless the disk failed
     *     between two renames
     */
    public static void write(Path directory, ModelSpec model, Collection<NamedTensor> tensors, long shardBytes,
            Optional<Path> companions) {
        requireTensorsOf(model, tensors);
        boolean existed = Files.exists(directory);
        try {
            Files.createDirectories(directory);
            writeFiles(directory, model, shards(model, tensors, shardBytes), companions);
        } catch (IOException failure) {
            throw new WeightException("cannot write the model to " + directory + ": " + FileReason.of(failure),
                    failure);
        } finally {
            if (!existed) {
                // Succeeds only if the directory is empty, so that nothing of a failed write is left.
                directory.toFile().delete();
            }
        }
    }

    /** Returns the tensors under their published names by the file that has them, in the order of the model. */
    private static Map<String, List<NamedTensor>> shards(ModelSpec model, Collection<NamedTensor> tensors,
            long shardBytes) {
        Map<String, NamedTensor> byName = tensors.stream()
                .collect(Collectors.toMap(NamedTensor::name, tensor -> tensor));
        List<List<NamedTensor>> shards = new ArrayList<>();
        long bytes = 0;
        for (String name : model.parameters().keySet()) {
            NamedTensor tensor = byName.get(name).as(model.family().publishedNames(name).getFirst());
            if (shards.isEmpty() || bytes + tensor.byteCount() > shardBytes) {
                shards.add(new ArrayList<>());
                bytes = 0;
            }
            shards.getLast().add(tensor);
            bytes += tensor.byteCount();
        }
        Map<String, List<NamedTensor>> byFile = new LinkedHashMap<>();
        for (int number = 1; number <= shards.size(); number++) {
            byFile.put(shards.size() == 1
                    ? HuggingFaceModel.WEIGHTS
                    : String.format(Locale.ROOT, "model-%05d-of-%05d.safetensors", number, shards.size()),
                    shards.get(number - 1));
        }
        return byFile;
    }

    private static void writeFiles(Path directory, ModelSpec model, Map<String, List<NamedTensor>> shards,
            Optional<Path> companions) throws IOException {
        List<WholeFile> files = new ArrayList<>();
        try {
            for (Map.Entry<String, List<NamedTensor>> shard : shards.entrySet()) {
                WholeFile file = added(files, directory.resolve(shard.getKey()));
                SafeTensorsWriter.write(file.channel(), Map.of("format", "pt"), shard.getValue());
                file.seal();
            }
            Set<String> weightFiles = new TreeSet<>(shards.keySet());
            if (shards.size() > 1) {
                weightFiles.add(ShardIndex.FILE_NAME);
                write(added(files, directory.resolve(ShardIndex.FILE_NAME)), index(model, shards));
            }
            for (Path companion : companions.map(CompanionFiles::in).orElse(List.of())) {
                Path copy = directory.resolve(companions.orElseThrow().relativize(companion));
                Files.createDirectories(copy.getParent());
                write(added(files, copy), Files.readAllBytes(companion));
            }
            Path config = directory.resolve(HuggingFaceModel.CONFIG);
            write(added(files, config),
                    config(model, shards.values().iterator().next().getFirst().type(), companions));
            Files.deleteIfExists(config);
            deleteWeights(directory, name -> !weightFiles.contains(name));
            for (WholeFile file : files) {
                file.commit();
            }
        } finally {
            for (WholeFile file : files) {
                file.close();
            }
        }
    }

    private static WholeFile added(List<WholeFile> files, Path target) throws IOException {
        WholeFile file = WholeFile.create(target);
        files.add(file);
        return file;
    }

    private static void write(WholeFile file, byte[] content) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(content);
        while (bytes.hasRemaining()) {
            file.channel().write(bytes);
        }
        file.seal();
    }

    /** Deletes weights of an earlier model in other files, which readers would take for this one's. */
    private static void deleteWeights(Path directory, Predicate<String> isOld) throws IOException {
        List<Path> old;
        try (Stream<Path> entries = Files.list(directory)) {
            old = entries.filter(entry -> WEIGHT_FILE.matcher(entry.getFileName().toString()).matches())
                    .filter(entry -> isOld.test(entry.getFileName().toString())).toList();
        }
        for (Path file : old) {
            Files.delete(file);
        }
    }

    private static byte[] index(ModelSpec model, Map<String, List<NamedTensor>> shards) throws IOException {
        Map<String, String> fileOfTensor = new TreeMap<>();
        long bytes = 0;
        for (Map.Entry<String, List<NamedTensor>> shard : shards.entrySet()) {
            for (NamedTensor tensor : shard.getValue()) {
                fileOfTensor.put(tensor.name(), shard.getKey());
                bytes += tensor.byteCount();
            }
        }
        ObjectNode index = JSON.createObjectNode();
        index.putObject("metadata").put("total_parameters", model.parameterCount()).put("total_size", bytes);
        index.putPOJO(ShardIndex.WEIGHT_MAP, fileOfTensor);
        return JSON.writeValueAsBytes(index);
    }

    private static byte[] config(ModelSpec model, DataType type, Optional<Path> companions) throws IOException {
        ObjectNode config = JSON.createObjectNode();
        config.put("model_type", model.family().name());
        model.family().writePublished(model, config);
        // transformers 4 reads the second key, later ones the first.
        for (String key : List.of("dtype", "torch_dtype")) {
            config.put(key, type.name().toLowerCase(Locale.ROOT));
        }
        Optional<Path> source = companions.map(directory -> directory.resolve(HuggingFaceModel.CONFIG))
                .filter(Files::isRegularFile);
        if (source.isPresent()) {
            PublishedConfig read = PublishedConfig.read(source.get(), ModelFamilies.titles());
            for (String key : TOKEN_IDS) {
                JsonNode ids = read.value(key);
                if (areTokens(ids, model.size(Axis.VOCABULARY))) {
                    config.set(key, ids);
                }
            }
        }
        return JSON.writeValueAsBytes(config);
    }

    private static boolean areTokens(JsonNode ids, int vocabularySize) {
        if (ids.isArray()) {
            return ids.valueStream().allMatch(id -> id.isIntegralNumber() && areTokens(id, vocabularySize));
        }
        return ids.isIntegralNumber() && ids.canConvertToInt() && ids.intValue() >= 0
                && ids.intValue() < vocabularySize;
    }

    private static void requireTensorsOf(ModelSpec model, Collection<NamedTensor> tensors) {
        Map<String, Shape> expected = model.parameters().values().stream()
                .collect(Collectors.toMap(ParameterSpec::name, parameter -> parameter.shape().sizes()));
        Map<String, Shape> given = tensors.stream()
                .collect(Collectors.toMap(NamedTensor::name, NamedTensor::shape, (first, _) -> first));
        if (given.size() != tensors.size() || !given.equals(expected)) {
            Set<String> wrong = new TreeSet<>(expected.keySet());
            wrong.addAll(given.keySet());
            wrong.removeIf(name -> expected.containsKey(name) && expected.get(name).equals(given.get(name)));
            throw new IllegalArgumentException("a model must be written with each of its " + expected.size()
                    + " tensors once, but these are missing, unknown, doubled or of another shape: " + wrong);
        }
        if (tensors.stream().map(NamedTensor::type).distinct().count() != 1
                || !FLOATS.contains(tensors.iterator().next().type())) {
            throw new IllegalArgumentException(
                    "the tensors of a model must all be FLOAT32, all FLOAT64 or all BFLOAT16");
        }
    }
}
