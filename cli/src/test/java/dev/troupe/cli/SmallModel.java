package dev.troupe.cli;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.family.ModelFamilies;
import dev.troupe.model.spec.Lora;
import dev.troupe.model.spec.Section;
import dev.troupe.tokenizer.Tokenizer;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.huggingface.HuggingFaceModel;
import dev.troupe.weights.peft.PeftAdapter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/** A small model of random weights with a tokenizer, as a directory in Hugging Face layout. */
final class SmallModel {
    private SmallModel() {
    }

    /** The directory of a tokenizer of this form. */
    static Path tokenizer(String form) {
        try {
            return Path.of(SmallModel.class.getResource("/tokenizers/" + form).toURI());
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** The model of a family that knows some tokens more than its tokenizer; 64 wide, 4 heads. */
    static ModelSpec spec(String family, Tokenizer tokenizer, Map<String, Object> more) {
        Map<String, Object> section = new HashMap<>(Map.of("layers", 2, "hidden", 64, "heads", 4, "sequence-length",
                64, "vocabulary-size", tokenizer.vocabularySize() + 7, "tie-embeddings", false));
        section.putAll(more);
        return ModelFamilies.named(family).read(new Section(section));
    }

    /**
     * Writes model and tokenizer. No weight is like another, and biases and norms are random too. The model never writes a
     * token that is not some visible characters of ASCII, so that the text identifies the tokens.
     */
    static ModelSpec write(Path directory, String family, String form, Map<String, Object> more) throws IOException {
        Path files = tokenizer(form);
        Tokenizer tokenizer = Tokenizer.named(files.toString());
        ModelSpec model = spec(family, tokenizer, more);
        HuggingFaceModel.write(directory, model, model.parameters().values().stream()
                .map(parameter -> NamedTensor.of(parameter.name(), parameter.shape().sizes(), DataType.FLOAT32,
                        values(parameter.name(), parameter.shape().sizes(), tokenizer)))
                .toList());
        for (String name : new String[]{"tokenizer.json", "tokenizer_config.json"}) {
            Files.copy(files.resolve(name), directory.resolve(name));
        }
        return model;
    }

    /** Writes an adapter of the model with random weights that change its texts, in PEFT's layout. */
    static void writeAdapter(Path directory, ModelSpec base, Lora lora) {
        ModelSpec model = base.family().adapted(base, lora);
        PeftAdapter.write(directory, model, Optional.empty(), 0, PeftAdapter.trained(model).stream()
                .map(parameter -> NamedTensor.of(parameter.name(), parameter.shape().sizes(), DataType.FLOAT32,
                        adapterValues(directory + parameter.name(), parameter.shape().sizes())))
                .toList());
    }

    private static MemorySegment adapterValues(String name, Shape shape) {
        Random random = new Random(name.hashCode());
        float[] values = new float[(int) shape.elementCount()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) (0.3 * random.nextGaussian());
        }
        return MemorySegment.ofArray(values);
    }

    private static MemorySegment values(String name, Shape shape, Tokenizer tokenizer) {
        Random random = new Random(name.hashCode());
        float[] values = new float[(int) shape.elementCount()];
        boolean isNorm = shape.rank() == 1 && name.endsWith(".weight");
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) (0.2 * random.nextGaussian()) + (isNorm ? 1 : 0);
        }
        if (shape.rank() == 2 && shape.size(0) >= tokenizer.vocabularySize()) {
            int width = shape.size(1);
            for (int id = 0; id < shape.size(0); id++) {
                String text = tokenizer.decode(new int[]{id});
                if (!text.chars().allMatch(character -> character >= ' ' && character <= '~')
                        || text.startsWith("<|")) {
                    for (int i = 0; i < width; i++) {
                        values[id * width + i] = 0;
                    }
                }
            }
        }
        return MemorySegment.ofArray(values);
    }
}
