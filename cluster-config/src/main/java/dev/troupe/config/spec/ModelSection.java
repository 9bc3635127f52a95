package dev.troupe.config.spec;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/** The model of a run: loaded from a directory, or described and initialized from the seed. */
public sealed interface ModelSection {
    /** The given keys of the model; its family makes a model of them. */
    Map<String, Object> values();

    /** The name of the architecture, where given. */
    Optional<String> familyGiven();

    /**
     * A model in Hugging Face layout. Its shape is that of its {@code config.json}; components that are given must not
     * contradict it, except that the sequence length may be shorter than the positions of the model. The reader of the
     * directory checks that.
     *
     * @param familyGiven name of the architecture, where given
     * @param directory absolute path of the directory with {@code config.json} and {@code model.safetensors}
     * @param layers transformer blocks, where given
     * @param hidden width, where given
     * @param heads attention heads, where given
     * @param sequenceLength tokens of a training sequence, where given
     * @param vocabularySize token ids the model knows, where given
     * @param tieEmbeddings whether the head shares the token embedding, where given
     * @param more numbers that only some families have, by key, where given
     */
    record FromDirectory(Optional<String> familyGiven, Path directory, OptionalInt layers, OptionalInt hidden,
            OptionalInt heads, OptionalInt sequenceLength, OptionalInt vocabularySize,
            Optional<Boolean> tieEmbeddings, Map<String, Number> more) implements ModelSection {

        /** Refuses a missing part. */
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
     * @param vocabularySize token ids the model knows, at least those of the tokenizer; 0: those of the directory that
     *     is the tokenizer
     * @param tieEmbeddings whether the head shares the token embedding
     * @param more numbers that only some families have, by key, where given
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
