package dev.troupe.weights.peft;

import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.PublishedConfig;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.tokenizer.file.FileReason;
import dev.troupe.tokenizer.file.WholeFile;
import dev.troupe.weights.Conversion;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.SafeTensors;
import dev.troupe.weights.SafeTensorsWriter;
import dev.troupe.weights.StoredTensor;
import dev.troupe.weights.TensorSamples;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A directory with low-rank adapters in PEFT's layout: {@code adapter_config.json} next to
 * {@code adapter_model.safetensors}. Any thread may read it until it is closed.
 */
public final class PeftAdapter implements WeightSource, AutoCloseable {
    private static final String CONFIG = "adapter_config.json";
    private static final String WEIGHTS = "adapter_model.safetensors";
    /** The prefix that PEFT puts before a model's own names. */
    private static final String PREFIX = "base_model.model.";
    private static final JsonMapper JSON = JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    private final Path directory;
    private final ModelSpec model;
    private final SafeTensors file;

    private PeftAdapter(Path directory, ModelSpec model, SafeTensors file) {
        this.directory = directory;
        this.model = model;
        this.file = file;
    }

    /**
     * Opens the adapters of a model and checks them completely. The caller closes them.
     *
     * @param base the model without adapters
     * @throws WeightException if there are none, they are of another kind than is computed here, or for other shapes
     */
    public static PeftAdapter open(Path directory, ModelSpec base, String identity) {
        if (!Files.isRegularFile(directory.resolve(CONFIG)) || !Files.isRegularFile(directory.resolve(WEIGHTS))) {
            throw new WeightException(directory + " is no directory with an adapter: give one with " + CONFIG + " and "
                    + WEIGHTS + ", as PEFT writes them");
        }
        PublishedConfig config = PublishedConfig.read(directory.resolve(CONFIG), base.family().title());
        ModelSpec adapted;
        try {
            adapted = base.family().adapted(base, PeftConfig.read(config, base).on(identity));
        } catch (IllegalArgumentException refused) {
            throw config.refusal(refused.getMessage());
        }
        SafeTensors file = SafeTensors.open(directory.resolve(WEIGHTS));
        try {
            PeftAdapter adapter = new PeftAdapter(directory, adapted, file);
            adapter.verify();
            return adapter;
        } catch (RuntimeException refused) {
            file.close();
            throw refused;
        }
    }

    private void verify() {
        List<String> defects = new ArrayList<>();
        Set<String> known = trained(model).stream().map(parameter -> storedName(parameter.name()))
                .collect(Collectors.toSet());
        file.tensors().keySet().stream().filter(name -> !known.contains(name))
                .forEach(name -> defects.add(name + " is no adapter of a matrix that " + CONFIG + " names"));
        for (ParameterSpec parameter : trained(model)) {
            String name = storedName(parameter.name());
            StoredTensor stored = file.tensors().get(name);
            Shape shape = parameter.shape().sizes();
            if (stored == null) {
                defects.add(name + " is missing");
            } else if (!stored.hasShape(shape)) {
                defects.add(name + " must have shape " + shape + ", but has "
                        + stored.shapeText());
            } else if (!Conversion.READABLE_AS_FLOAT.contains(stored.type())) {
                defects.add(name + " must be stored as F64, F32, F16 or BF16, but is "
                        + stored.type());
            }
        }
        if (!defects.isEmpty()) {
            throw new WeightException(directory.resolve(WEIGHTS) + " is no adapter for this model: "
                    + defects.getFirst() + (defects.size() > 1 ? ", and " + (defects.size() - 1) + " more" : "")
                    + "; take the adapter that was trained for it, or the model that it was trained for");
        }
    }

    /** Returns a text that distinguishes these adapters from others for the same matrices. */
    public String identity() {
        SortedMap<String, SafeTensors> files = new TreeMap<>();
        file.tensors().keySet().forEach(name -> files.put(name, file));
        return TensorSamples.identity(files);
    }

    public ModelSpec model() {
        return model;
    }

    @Override
    public void read(String name, Shape shape, DataType parameterType, MemorySegment target) {
        file.readNumbers(storedName(name), shape, parameterType, target);
    }

    @Override
    public void requireNumbers(String name, DataType parameterType) {
        file.requireNumbers(storedName(name), parameterType);
    }

    /** Returns the file's name of a parameter; if it has none, the name under which it is written. */
    private String storedName(String parameter) {
        return names(model, parameter).filter(file.tensors()::containsKey).findFirst()
                .orElseGet(() -> names(model, parameter).findFirst().orElseThrow());
    }

    private static Stream<String> names(ModelSpec model, String parameter) {
        return model.family().adapterNames(parameter).stream().map(name -> PREFIX + name);
    }

    @Override
    public void close() {
        file.close();
    }

    /**
     * Writes the adapters of a model as PEFT does, whole or not at all: the configuration appears last.
     *
     * @param directory created if it does not exist; its adapters are replaced, other files stay
     * @param base the directory or name of the base model, if it is known
     * @param tensors exactly the parameters of the model that are trained
     * @throws WeightException if the files cannot be written
     */
    public static void write(Path directory, ModelSpec model, Optional<String> base, double dropout,
            Collection<NamedTensor> tensors) {
        try {
            Files.createDirectories(directory);
            Path configFile = directory.resolve(CONFIG);
            try (WholeFile weights = WholeFile.create(directory.resolve(WEIGHTS));
                    WholeFile shape = WholeFile.create(configFile)) {
                SafeTensorsWriter.write(weights.channel(), Map.of("format", "pt"),
                        tensors.stream()
                                .map(tensor -> tensor.as(names(model, tensor.name()).findFirst().orElseThrow()))
                                .toList());
                weights.seal();
                ByteBuffer text = ByteBuffer.wrap(JSON.writeValueAsBytes(PeftConfig.of(model, base, dropout)));
                while (text.hasRemaining()) {
                    shape.channel().write(text);
                }
                shape.seal();
                Files.deleteIfExists(configFile);
                weights.commit();
                shape.commit();
            }
        } catch (IOException failure) {
            throw new WeightException("cannot write the adapter to " + directory + ": " + FileReason.of(failure),
                    failure);
        }
    }

    public static List<ParameterSpec> trained(ModelSpec adapted) {
        return adapted.parameters().values().stream().filter(ParameterSpec::isTrained).toList();
    }
}
