package dev.troupe.weights.huggingface;

import static dev.troupe.weights.Wording.quoted;

import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.PublishedConfig;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.weights.Conversion;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.SafeTensors;
import dev.troupe.weights.SafeTensorsWriter;
import dev.troupe.weights.StoredTensor;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import dev.troupe.weights.WholeFile;
import dev.troupe.weights.Wording;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A directory with a model as Hugging Face lays it out: {@code config.json} beside {@code model.safetensors}, or
 * beside {@code model.safetensors.index.json} and the files it names. Tensors that the model does not need (attention
 * masks, a tied head's own copy) are ignored. Any number of threads may
 * read it; none may once it is closed.
 */
public final class HuggingFaceModel implements WeightSource, AutoCloseable {
    private static final String CONFIG = "config.json";
    private static final String WEIGHTS = "model.safetensors";
    private static final JsonMapper JSON = JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();
    private static final int SHOWN_DEFECTS = 5;
    private static final Set<DataType> FLOATS = EnumSet.of(DataType.FLOAT32, DataType.FLOAT64);

    private final Path directory;
    private final ModelSpec spec;
    private final List<SafeTensors> files;
    private final Map<String, SafeTensors> fileOfTensor;

    private HuggingFaceModel(Path directory, ModelSpec spec, List<SafeTensors> files,
            Map<String, SafeTensors> fileOfTensor) {
        this.directory = directory;
        this.spec = spec;
        this.files = files;
        this.fileOfTensor = fileOfTensor;
    }

    /**
     * Opens a directory and checks it whole: the configuration is one that is computed here, the files are sound, and
     * every tensor that the configuration asks for is there in its shape. The caller closes it.
     *
     * @throws WeightException
     *             where any of that is not so
     */
    public static HuggingFaceModel open(Path directory) {
        if (!Files.isDirectory(directory)) {
            throw new WeightException(directory + (Files.exists(directory) ? " is no directory" : " does not exist")
                    + ": give a directory with " + CONFIG + " and " + WEIGHTS);
        }
        requireFile(directory, CONFIG);
        PublishedConfig config = PublishedConfig.read(directory.resolve(CONFIG), ModelFamilies.titles());
        ModelSpec spec = ModelFamilies.of(config).readPublished(config);
        List<SafeTensors> opened = new ArrayList<>();
        try {
            Map<String, SafeTensors> fileOfTensor = openFiles(directory, opened);
            HuggingFaceModel model = new HuggingFaceModel(directory, spec, List.copyOf(opened), fileOfTensor);
            model.verify(spec);
            return model;
        } catch (RuntimeException refused) {
            opened.forEach(SafeTensors::close);
            throw refused;
        }
    }

    private static Map<String, SafeTensors> openFiles(Path directory, List<SafeTensors> opened) {
        Map<String, SafeTensors> fileOfTensor = new LinkedHashMap<>();
        Path whole = directory.resolve(WEIGHTS);
        Path index = directory.resolve(ShardIndex.FILE_NAME);
        if (Files.exists(whole) || !Files.exists(index)) {
            requireFile(directory, WEIGHTS);
            SafeTensors file = SafeTensors.open(whole);
            opened.add(file);
            file.tensors().keySet().forEach(name -> fileOfTensor.put(name, file));
            return fileOfTensor;
        }
        Map<String, SafeTensors> byName = new LinkedHashMap<>();
        ShardIndex.read(index).forEach((tensor, fileName) -> {
            SafeTensors file = byName.computeIfAbsent(fileName, name -> {
                SafeTensors shard = SafeTensors.open(directory.resolve(name));
                opened.add(shard);
                return shard;
            });
            file.tensor(tensor);
            fileOfTensor.put(tensor, file);
        });
        return fileOfTensor;
    }

    private static void requireFile(Path directory, String name) {
        if (!Files.isRegularFile(directory.resolve(name))) {
            throw new WeightException(directory + " has no file " + name + ": give a directory with " + CONFIG + " and "
                    + WEIGHTS + " (weights in another format must be saved as safetensors first)");
        }
    }

    /** The model, as {@code config.json} has it. */
    public ModelSpec spec() {
        return spec;
    }

    /** Where the model lies. */
    public Path directory() {
        return directory;
    }

    /**
     * Checks that every tensor of a model is here, in its shape and a type that can be read.
     *
     * @throws WeightException
     *             naming the first few that are not
     */
    public void verify(ModelSpec expected) {
        List<String> defects = new ArrayList<>();
        expected.parameters().forEach((name, parameter) -> {
            Shape shape = parameter.shape().sizes();
            String stored = storedName(name);
            if (stored == null) {
                defects.add(name + " is missing");
                return;
            }
            StoredTensor tensor = fileOfTensor.get(stored).tensor(stored);
            if (!tensor.hasShape(shape)) {
                defects.add(name + " must have shape " + shape + ", but has " + tensor.shapeText());
            } else if (!Conversion.READABLE_AS_FLOAT.contains(tensor.type())) {
                defects.add(name + " must be stored as F64, F32, F16 or BF16, but is " + tensor.type());
            }
        });
        if (!defects.isEmpty()) {
            int hidden = defects.size() - SHOWN_DEFECTS;
            throw new WeightException(directory + " lacks what the model needs: "
                    + String.join("; ", defects.subList(0, Math.min(SHOWN_DEFECTS, defects.size())))
                    + (hidden > 0 ? "; and " + hidden + " more" : "")
                    + "; use the weights that belong to the configuration");
        }
    }

    @Override
    public void read(String name, Shape shape, DataType parameterType, MemorySegment target) {
        String stored = storedName(name);
        if (stored == null) {
            throw new WeightException(
                    directory + " has no tensor " + quoted(name) + "; use weights of a model that has it");
        }
        fileOfTensor.get(stored).read(stored, shape, parameterType, target);
    }

    private String storedName(String name) {
        return spec.family().publishedNames(name).stream().filter(fileOfTensor::containsKey).findFirst().orElse(null);
    }

    /** Unmaps every file. */
    @Override
    public void close() {
        files.forEach(SafeTensors::close);
    }

    /**
     * Writes a model as its family is published; a shared parameter once. Both files are on the disk under temporary
     * names before either takes its place. {@code config.json} goes first and comes back last, so that a directory that
     * has one is whole.
     *
     * @param directory
     *            made if it is not there; a model that it holds is replaced, other files stay
     * @param tensors
     *            exactly those of {@link ModelSpec#parameters}, all float32 or all float64
     * @throws WeightException
     *             where the files cannot be written; a model that stood there before is then untouched, unless the disk
     *             failed between the two renames
     */
    public static void write(Path directory, ModelSpec model, Collection<NamedTensor> tensors) {
        requireTensorsOf(model, tensors);
        boolean existed = Files.exists(directory);
        try {
            Files.createDirectories(directory);
            writeFiles(directory, model, tensors);
        } catch (IOException failure) {
            throw new WeightException("cannot write the model to " + directory + ": " + Wording.reason(failure),
                    failure);
        } finally {
            if (!existed) {
                // Succeeds only where nothing was written, which is when nothing should be left.
                directory.toFile().delete();
            }
        }
    }

    private static void writeFiles(Path directory, ModelSpec model, Collection<NamedTensor> tensors)
            throws IOException {
        Path configFile = directory.resolve(CONFIG);
        try (WholeFile weights = WholeFile.create(directory.resolve(WEIGHTS));
                WholeFile shape = WholeFile.create(configFile)) {
            SafeTensorsWriter.write(weights.channel(), Map.of("format", "pt"), tensors.stream()
                    .map(tensor -> tensor.as(model.family().publishedNames(tensor.name()).getFirst())).toList());
            weights.seal();
            DataType type = tensors.iterator().next().type();
            ByteBuffer text = ByteBuffer.wrap(config(model, type));
            while (text.hasRemaining()) {
                shape.channel().write(text);
            }
            shape.seal();
            Files.deleteIfExists(configFile);
            weights.commit();
            shape.commit();
        }
    }

    private static byte[] config(ModelSpec model, DataType type) throws IOException {
        ObjectNode config = JSON.createObjectNode();
        config.put("model_type", model.family().name());
        model.family().writePublished(model, type, config);
        return JSON.writeValueAsBytes(config);
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
            throw new IllegalArgumentException("the tensors of a model must all be FLOAT32 or all FLOAT64");
        }
    }
}
