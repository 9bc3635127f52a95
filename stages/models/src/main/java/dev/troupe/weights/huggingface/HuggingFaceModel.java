package dev.troupe.weights.huggingface;

import static dev.troupe.weights.Wording.quoted;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.model.ModelFamily;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.PublishedConfig;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.weights.Conversion;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.SafeTensors;
import dev.troupe.weights.StoredTensor;
import dev.troupe.weights.TensorSamples;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A directory with a model in Hugging Face's layout: {@code config.json} next to {@code model.safetensors}, or next to
 * {@code model.safetensors.index.json} and the files it names. Tensors that the model does not need (attention masks, a tied
 * head's own copy) are ignored. If a configuration ties the head, but the file has other values for it, it is not tied, as
 * in transformers 5. Any thread may read it until it is closed.
 */
public final class HuggingFaceModel implements WeightSource, AutoCloseable {
    static final String CONFIG = "config.json";
    static final String WEIGHTS = "model.safetensors";
    private static final String TIES = "tie_word_embeddings";
    /** The head of every family, if it is not tied. */
    private static final String HEAD = "lm_head.weight";
    private static final int SHOWN_DEFECTS = 5;

    private final Path directory;
    private final ModelSpec spec;
    private final TensorFiles files;
    private final Map<String, SafeTensors> fileOfTensor;
    private final List<String> notes;

    private HuggingFaceModel(Path directory, ModelSpec spec, TensorFiles files, List<String> notes) {
        this.directory = directory;
        this.spec = spec;
        this.files = files;
        this.fileOfTensor = files.byTensor();
        this.notes = notes;
    }

    /**
     * Opens a directory and checks it completely: the configuration is one that is computed here, the files are sound, and
     * every tensor of the configuration is present in its shape. The caller closes it.
     *
     * @throws WeightException if any of that fails
     */
    public static HuggingFaceModel open(Path directory) {
        if (!Files.isDirectory(directory)) {
            throw new WeightException(directory + (Files.exists(directory) ? " is no directory" : " does not exist")
                    + ": give a directory with " + CONFIG + " and " + WEIGHTS);
        }
        requireFile(directory, CONFIG);
        PublishedConfig config = PublishedConfig.read(directory.resolve(CONFIG), ModelFamilies.titles());
        ModelFamily family = ModelFamilies.of(config);
        ModelSpec spec = family.readPublished(config);
        if (spec.blockCount() > ModelSpec.MOST_BLOCKS) { // before a list of them is made
            throw config.refusal("the model has " + spec.blockCount() + " blocks, and a model has at most "
                    + ModelSpec.MOST_BLOCKS + "; use another model");
        }
        if (!Files.exists(directory.resolve(ShardIndex.FILE_NAME))) {
            requireFile(directory, WEIGHTS);
        }
        TensorFiles files = TensorFiles.open(directory.resolve(WEIGHTS));
        try {
            HuggingFaceModel model = new HuggingFaceModel(directory, spec, files, UnknownKeys.notes(config, family))
                    .untied(family, config);
            model.verify(model.spec);
            return model;
        } catch (RuntimeException refused) {
            files.close();
            throw refused;
        }
    }

    /**
     * Returns the same, or with a head of its own if the files have one with other values than the table that it is tied to.
     */
    private HuggingFaceModel untied(ModelFamily family, PublishedConfig config) {
        String head = storedName(HEAD);
        if (head == null || spec.shared().isEmpty()) { // in this order: shared() lists the layers of a model of any size
            return this;
        }
        String table = storedName(spec.shared().getFirst().parameter().name());
        if (table == null || fileOfTensor.get(head).hasSameValues(head, fileOfTensor.get(table), table)) {
            return this;
        }
        List<String> all = new ArrayList<>(notes);
        all.add(CONFIG + " of " + directory + " has " + TIES + " = true, but " + head + " is not " + table
                + ": the model has a head of its own then, as in transformers 5");
        ModelSpec whole = family.readPublished(config.with(TIES, false));
        return new HuggingFaceModel(directory, whole, files, List.copyOf(all));
    }

    private static void requireFile(Path directory, String name) {
        if (!Files.isRegularFile(directory.resolve(name))) {
            throw new WeightException(directory + " has no file " + name + ": give a directory with " + CONFIG + " and "
                    + WEIGHTS + " (weights in another format must be saved as safetensors first)");
        }
    }

    public ModelSpec spec() {
        return spec;
    }

    /** Returns sentences for the user on unusual content of the directory. */
    public List<String> notes() {
        return notes;
    }

    /**
     * Checks that every tensor of a model is here, in its shape and a type that can be read.
     *
     * @throws WeightException with the first few that are not
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
        String stored = requireStored(name);
        fileOfTensor.get(stored).readNumbers(stored, shape, parameterType, target);
    }

    @Override
    public void requireNumbers(String name, DataType parameterType) {
        String stored = requireStored(name);
        fileOfTensor.get(stored).requireNumbers(stored, parameterType);
    }

    private String requireStored(String name) {
        String stored = storedName(name);
        if (stored == null) {
            throw new WeightException(
                    directory + " has no tensor " + quoted(name) + "; use weights of a model that has it");
        }
        return stored;
    }

    /**
     * Returns a digest that distinguishes these weights from others of the same model, from the ends of every tensor, since
     * reading all of a large file would take minutes.
     */
    public String identity() {
        return TensorSamples.identity(new TreeMap<>(fileOfTensor));
    }

    private String storedName(String name) {
        return spec.family().publishedNames(name).stream().filter(fileOfTensor::containsKey).findFirst().orElse(null);
    }

    @Override
    public void close() {
        files.close();
    }

    /**
     * As {@link HuggingFaceWriter#write}, in shards of the usual size, without files of a tokenizer.
     *
     * @param tensors exactly the {@link ModelSpec#parameters}, all of one type: FLOAT32, FLOAT64 or BFLOAT16
     * @throws WeightException if the files cannot be written
     */
    public static void write(Path directory, ModelSpec model, Collection<NamedTensor> tensors) {
        HuggingFaceWriter.write(directory, model, tensors, HuggingFaceWriter.USUAL_SHARD_BYTES, Optional.empty());
    }
}
