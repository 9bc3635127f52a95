package dev.troupe.model;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.model.spec.Lora;
import dev.troupe.model.spec.Section;
import java.util.List;
import java.util.Optional;

/** Models of one architecture: reads what makes one of them, and knows how they are published. Any thread may ask it. */
public interface ModelFamily {
    /**
     * The value of {@code troupe.model.family}, of a manifest, and of {@code model_type} in a {@code config.json} that is
     * written.
     */
    String name();

    /** Whether a {@code config.json} of this {@code model_type} is one of this family. */
    default boolean isPublishedAs(String modelType) {
        return modelType.equals(name());
    }

    /** Its name for people. */
    String title();

    /**
     * Whether several documents in one sequence can be kept from seeing each other, each with positions from 0; if not, a
     * sequence is one document.
     */
    boolean separatesDocuments();

    /**
     * The model of a section.
     *
     * @throws IllegalArgumentException with a sentence for the user if there is none
     */
    ModelSpec read(Section section);

    /**
     * The model with low-rank adapters, of which nothing else is trained.
     *
     * @throws IllegalArgumentException with a sentence for the user if it cannot have these
     */
    default ModelSpec adapted(ModelSpec model, Lora lora) {
        throw new IllegalArgumentException("a model of the family " + name()
                + " has no matrices that can have low-rank adapters: leave training.lora out, or take another model");
    }

    /**
     * The model of a {@code config.json} that Hugging Face's libraries read.
     *
     * @throws dev.troupe.weights.WeightException if it asks for what is not computed here
     */
    ModelSpec readPublished(PublishedConfig config);

    /** Keys of its own that a {@code config.json} may have and that change no number that is computed here. */
    default List<String> keysWithoutEffect() {
        return List.of();
    }

    /** Writes the keys of a {@code config.json} that is read as the same model, but those of the type of its weights. */
    void writePublished(ModelSpec model, ObjectNode config);

    /** The names that a parameter may have in published files; it is written under the first. */
    List<String> publishedNames(String parameter);

    /**
     * The names that a parameter of an adapter may have in files of PEFT, without PEFT's prefix; it is written under the
     * first.
     */
    default List<String> adapterNames(String parameter) {
        return List.of(parameter);
    }

    /** Whether matrices are stored [inputs x outputs], which PEFT calls {@code fan_in_fan_out}; else [outputs x inputs]. */
    default boolean storesInputsFirst() {
        return false;
    }

    /**
     * The model as llama.cpp's format GGUF has it; empty where llama.cpp does not compute the family.
     *
     * @throws dev.troupe.weights.WeightException if it does not compute this model
     */
    default Optional<GgufModel> gguf(ModelSpec model) {
        return Optional.empty();
    }
}
