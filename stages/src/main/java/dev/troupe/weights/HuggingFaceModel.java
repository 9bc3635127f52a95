package dev.troupe.weights;

import static dev.troupe.weights.Wording.quoted;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.model.spec.ModelConfig;
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
 * A directory with a GPT-2 model as Hugging Face lays it out: {@code config.json} beside {@code model.safetensors}, or
 * beside {@code model.safetensors.index.json} and the files it names. Names may bear the prefix {@code transformer.};
 * tensors that the model does not need (attention masks, a tied head's own copy) are ignored. Any number of threads may
 * read it; none may once it is closed.
 */
public final class HuggingFaceModel implements WeightSource, AutoCloseable {
    private static final String CONFIG = "config.json";
    private static final String WEIGHTS = "model.safetensors";
    private static final String PREFIX = "transformer.";
    private static final int SHOWN_DEFECTS = 5;
    private static final Set<DataType> FLOATS = EnumSet.of(DataType.FLOAT32, DataType.FLOAT64);

    private final Path directory;
    private final ModelConfig config;
    private final List<SafeTensors> files;
    private final Map<String, SafeTensors> fileOfTensor;

    private HuggingFaceModel(Path directory, ModelConfig config, List<SafeTensors> files,
            Map<String, SafeTensors> fileOfTensor) {
        this.directory = directory;
        this.config = config;
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
        ModelConfig config = ModelConfigFile.read(directory.resolve(CONFIG));
        List<SafeTensors> opened = new ArrayList<>();
        try {
            Map<String, SafeTensors> fileOfTensor = openFiles(directory, opened);
            HuggingFaceModel model = new HuggingFaceModel(directory, config, List.copyOf(opened), fileOfTensor);
            model.verify(config);
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

    /** The model's shape, as {@code config.json} has it. */
    public ModelConfig config() {
        return config;
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
    public void verify(ModelConfig expected) {
        List<String> defects = new ArrayList<>();
        ModelTensors.of(expected).forEach((name, shape) -> {
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
        return fileOfTensor.containsKey(name)
                ? name
                : fileOfTensor.containsKey(PREFIX + name) ? PREFIX + name : null;
    }

    /** Unmaps every file. */
    @Override
    public void close() {
        files.forEach(SafeTensors::close);
    }

    /**
     * Writes a model as GPT-2 was published: names without {@code transformer.}, no {@code lm_head.weight} where the
     * head is tied. Both files are on the disk under temporary names before either takes its place. {@code config.json}
     * goes first and comes back last, so that a directory that has one is whole.
     *
     * @param directory
     *            made if it is not there; a model that it holds is replaced, other files stay
     * @param tensors
     *            exactly those of {@link ModelTensors#of}, all float32 or all float64
     * @throws WeightException
     *             where the files cannot be written; a model that stood there before is then untouched, unless the disk
     *             failed between the two renames
     */
    public static void write(Path directory, ModelConfig config, Collection<NamedTensor> tensors) {
        requireTensorsOf(config, tensors);
        boolean existed = Files.exists(directory);
        try {
            Files.createDirectories(directory);
            writeFiles(directory, config, tensors);
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

    private static void writeFiles(Path directory, ModelConfig config, Collection<NamedTensor> tensors)
            throws IOException {
        Path configFile = directory.resolve(CONFIG);
        try (WholeFile weights = WholeFile.create(directory.resolve(WEIGHTS));
                WholeFile shape = WholeFile.create(configFile)) {
            SafeTensorsWriter.write(weights.channel(), Map.of("format", "pt"), tensors);
            weights.seal();
            DataType type = tensors.iterator().next().type();
            ByteBuffer text = ByteBuffer.wrap(ModelConfigFile.write(config, type));
            while (text.hasRemaining()) {
                shape.channel().write(text);
            }
            shape.seal();
            Files.deleteIfExists(configFile);
            weights.commit();
            shape.commit();
        }
    }

    private static void requireTensorsOf(ModelConfig config, Collection<NamedTensor> tensors) {
        Map<String, Shape> expected = ModelTensors.of(config);
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
