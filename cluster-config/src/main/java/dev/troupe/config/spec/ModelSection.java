package dev.troupe.config.spec;

import dev.troupe.config.value.Values;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/** The model of a run: loaded from a directory, or described and initialized from the seed. */
public sealed interface ModelSection {
    /** Returns the given keys of the model, from which its family makes a model. */
    Map<String, Object> values();

    /** Returns the name of the architecture, if given. */
    Optional<String> familyGiven();

    /**
     * Reads the section {@code model}.
     *
     * @param from directory of the model to start from, or null
     */
    static ModelSection read(Values values, Path from, DataSpec data) {
        return ModelKeys.read(values, from, data);
    }

    /** Reports numbers that the ranks of a tensor group cannot divide among them. */
    default void checkTensor(Values values, ParallelSpec parallel) {
        ModelKeys.checkTensor(values, this, parallel);
    }

    /**
     * A model in Hugging Face layout. Its {@code config.json} defines its shape; components that are given must agree
     * with it, except that the sequence length may be shorter. The reader of the directory checks that.
     *
     * @param familyGiven name of the architecture, if given
     * @param directory absolute path of the directory with {@code config.json} and {@code model.safetensors}
     * @param layers transformer blocks, if given
     * @param hidden width, if given
     * @param heads attention heads, if given
     * @param sequenceLength tokens of a training sequence, if given
     * @param vocabularySize token ids the model knows, if given
     * @param tieEmbeddings whether the head shares the token embedding, if given
     * @param more numbers that only some families have, by key, if given
     */
    record FromDirectory(Optional<String> familyGiven, Path directory, OptionalInt layers, OptionalInt hidden,
            OptionalInt heads, OptionalInt sequenceLength, OptionalInt vocabularySize,
            Optional<Boolean> tieEmbeddings, Map<String, Number> more) implements ModelSection {

        public FromDirectory {
            Objects.requireNonNull(familyGiven, "familyGiven");
            Objects.requireNonNull(directory, "directory");
            Objects.requireNonNull(layers, "layers");
            Objects.requireNonNull(hidden, "hidden");
            Objects.requireNonNull(heads, "heads");
            Objects.requireNonNull(sequenceLength, "sequenceLength");
            Objects.requireNonNull(vocabularySize, "vocabularySize");
            Objects.requireNonNull(tieEmbeddings, "tieEmbeddings");
            more = Map.copyOf(more);
        }

        @Override
        public Map<String, Object> values() {
            Map<String, Object> values = new LinkedHashMap<>();
            layers.ifPresent(given -> values.put("layers", given));
            hidden.ifPresent(given -> values.put("hidden", given));
            heads.ifPresent(given -> values.put("heads", given));
            sequenceLength.ifPresent(given -> values.put("sequence-length", given));
            vocabularySize.ifPresent(given -> values.put("vocabulary-size", given));
            tieEmbeddings.ifPresent(given -> values.put("tie-embeddings", given));
            values.putAll(more);
            return values;
        }
    }

    /**
     * A model made anew.
     *
     * @param family name of the architecture
     * @param layers transformer blocks, at least 1
     * @param hidden width
     * @param heads attention heads, at least 1
     * @param sequenceLength tokens of a training sequence, and positions the model has, at least 1
     * @param vocabularySize token ids the model knows, at least as many as the tokenizer has; 0: as many
     * @param tieEmbeddings whether the head shares the token embedding
     * @param more numbers that only some families have, by key, if given
     */
    record Described(String family, int layers, int hidden, int heads, int sequenceLength, int vocabularySize,
            boolean tieEmbeddings, Map<String, Number> more) implements ModelSection {
        public Described {
            more = Map.copyOf(more);
        }

        /** Returns the same model with another vocabulary. */
        public Described withVocabulary(int size) {
            return new Described(family, layers, hidden, heads, sequenceLength, size, tieEmbeddings, more);
        }

        @Override
        public Optional<String> familyGiven() {
            return Optional.of(family);
        }

        @Override
        public Map<String, Object> values() {
            Map<String, Object> values = new LinkedHashMap<>();
            values.put("layers", layers);
            values.put("hidden", hidden);
            values.put("heads", heads);
            values.put("sequence-length", sequenceLength);
            values.put("vocabulary-size", vocabularySize);
            values.put("tie-embeddings", tieEmbeddings);
            values.putAll(more);
            return values;
        }
    }
}
