package dev.troupe.model;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.model.spec.Lora;
import dev.troupe.model.spec.Section;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The models of one architecture: their declaration from a section, and their published forms. Any thread. */
public interface ModelFamily {
    /**
     * Returns the value of {@code troupe.model.family}, of a manifest, and of {@code model_type} in a {@code config.json}
     * that is written.
     */
    String name();

    /** Returns whether a {@code config.json} of this {@code model_type} is one of this family. */
    default boolean isPublishedAs(String modelType) {
        return modelType.equals(name());
    }

    String title();

    /**
     * Returns whether several documents in one sequence can be separated, each with positions from 0; if not, a sequence is
     * one document.
     */
    boolean separatesDocuments();

    /**
     * Returns the model of a section.
     *
     * @throws IllegalArgumentException with a sentence for the user if there is none
     */
    ModelSpec read(Section section);

    /**
     * Returns the model with low-rank adapters; only these are trained.
     *
     * @throws IllegalArgumentException with a sentence for the user if it cannot have these
     */
    default ModelSpec adapted(ModelSpec model, Lora lora) {
        throw new IllegalArgumentException("a model of the family " + name()
                + " has no matrices that can have low-rank adapters: leave training.lora out, or take another model");
    }

    /**
     * Returns the model of a {@code config.json} of Hugging Face's libraries.
     *
     * @throws dev.troupe.weights.WeightException if it has features that are not computed here
     */
    ModelSpec readPublished(PublishedConfig config);

    /** Returns the keys of its section that a run may give with a model from files: they change its training alone. */
    default Set<String> keysOfTraining() {
        return Set.of();
    }

    /** Returns further keys of a {@code config.json} that do not affect the computation. */
    default List<String> keysWithoutEffect() {
        return List.of();
    }

    /** Writes the keys of a {@code config.json} from which the same model is read, except for the type of its weights. */
    void writePublished(ModelSpec model, ObjectNode config);

    /** Returns the names that a parameter may have in published files; it is written under the first. */
    List<String> publishedNames(String parameter);

    /**
     * Returns the names that a parameter of an adapter may have in files of PEFT, without PEFT's prefix; it is written under
     * the first.
     */
    default List<String> adapterNames(String parameter) {
        return List.of(parameter);
    }

    /**
     * Returns the modules of a block, embedding and head by their usual names in PyTorch's own models, if these differ from
     * the published ones: for plans of PyTorch's parallel styles.
     */
    default Map<String, String> modulesInPyTorch() {
        return Map.of();
    }

    /**
     * Returns whether matrices are stored [inputs x outputs], PEFT's {@code fan_in_fan_out}; otherwise they are [outputs x
     * inputs].
     */
    default boolean storesInputsFirst() {
        return false;
    }

    /**
     * Returns the model in llama.cpp's format GGUF; empty if llama.cpp does not compute the family.
     *
     * @throws dev.troupe.weights.WeightException if it does not compute this model
     */
    default Optional<GgufModel> gguf(ModelSpec model) {
        return Optional.empty();
    }
}
