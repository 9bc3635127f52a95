package dev.troupe.config.spec;

import dev.troupe.config.value.Range;
import dev.troupe.config.value.Texts;
import dev.troupe.config.value.Values;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** The reader of the section {@code model}. */
final class ModelKeys {
    private static final int MAX = Integer.MAX_VALUE;
    /** With embedding and head, the number of layers is the greatest number of stages. */
    private static final int MOST_LAYERS = ParallelSpec.MOST_RANKS_IN_ALL - 2;
    private static final String FAMILY = "model.family";
    private static final String LAYERS = "model.layers";
    private static final String HIDDEN = "model.hidden";
    private static final String HEADS = "model.heads";
    private static final String HEAD_SIZE = "head-size";
    private static final String SEQUENCE_LENGTH = "model.sequence-length";
    private static final String VOCABULARY = "model.vocabulary-size";
    private static final String TIE = "model.tie-embeddings";
    /** Keys of some families only; 0 is the family's own number. */
    private static final List<String> COUNTS = List.of("key-value-heads", HEAD_SIZE, "inner");
    private static final List<String> NUMBERS = List.of("norm-epsilon", "rotary-base");

    private ModelKeys() {
    }

    static ModelSection read(Values values, Path from, DataSpec data) {
        String family = values.text(FAMILY, Texts.NAME);
        int layers = values.integer(LAYERS, 1, MOST_LAYERS);
        int hidden = values.integer(HIDDEN, 1, MAX);
        int heads = values.integer(HEADS, 1, MAX);
        int sequenceLength = values.integer(SEQUENCE_LENGTH, 1, MAX);
        int vocabularySize = values.integer(VOCABULARY, 0, MAX);
        boolean tieEmbeddings = values.flag(TIE);
        Map<String, Number> more = more(values);
        checkHeads(values, hidden, heads, from != null || more.containsKey(HEAD_SIZE));
        if (from != null) {
            return new ModelSection.FromDirectory(given(values, FAMILY, family), from, count(values, LAYERS, layers),
                    count(values, HIDDEN, hidden), count(values, HEADS, heads),
                    count(values, SEQUENCE_LENGTH, sequenceLength),
                    vocabularySize == 0 ? none(values, VOCABULARY) : OptionalInt.of(vocabularySize),
                    given(values, TIE, tieEmbeddings), more);
        }
        return new ModelSection.Described(family, layers, hidden, heads, sequenceLength,
                vocabularySize(values, vocabularySize, data), tieEmbeddings, more);
    }

    private static Map<String, Number> more(Values values) {
        Map<String, Number> more = new LinkedHashMap<>();
        COUNTS.forEach(key -> more.put(key, values.integer("model." + key, 0, MAX)));
        NUMBERS.forEach(key -> more.put(key, values.decimal("model." + key, Range.NOT_NEGATIVE)));
        more.entrySet().removeIf(number -> {
            boolean isOfFamily = number.getValue().doubleValue() == 0;
            if (isOfFamily) {
                values.leaveOut("model." + number.getKey());
            }
            return isOfFamily;
        });
        return more;
    }

    /** Returns a value if its key is given; otherwise the directory of the model defines it. */
    private static <T> Optional<T> given(Values values, String key, T value) {
        if (!values.isGiven(key)) {
            values.leaveOut(key);
        }
        return Optional.of(value).filter(_ -> values.isGiven(key));
    }

    private static OptionalInt count(Values values, String key, int value) {
        return values.isGiven(key) ? OptionalInt.of(value) : none(values, key);
    }

    private static OptionalInt none(Values values, String key) {
        values.leaveOut(key);
        return OptionalInt.empty();
    }

    private static void checkHeads(Values values, int hidden, int heads, boolean isLoaded) {
        boolean isComplete = !isLoaded || values.isGiven(HIDDEN) && values.isGiven(HEADS);
        if (isComplete && values.sound(HIDDEN, HEADS) && hidden % heads != 0) {
            values.report(HEADS, "a number that divides model.hidden = " + hidden,
                    "a remainder of " + hidden % heads + " with " + heads + " heads", "change one of them");
        }
    }

    private static int vocabularySize(Values values, int size, DataSpec data) {
        if (!values.sound(VOCABULARY, "data.path", "data.tokenizer", "model.from")) {
            return size;
        }
        if (data.namesTokenFiles()) {
            if (size == 0) {
                values.report(VOCABULARY, "the number of token ids, which a .bin file does not contain", "0",
                        "set it, or model.from");
            }
            return size;
        }
        OptionalInt known = data.tokenizerVocabulary();
        if (known.isEmpty()) {
            return size;
        }
        int least = known.getAsInt();
        if (size != 0 && size < least) {
            values.report(VOCABULARY, "at least the " + least + " tokens of data.tokenizer = " + data.tokenizer(),
                    "" + size, "set it to 0 to take the tokenizer's");
        }
        int effective = size == 0 ? least : size;
        values.settle(VOCABULARY, effective);
        return effective;
    }

    /**
     * Checks the division among the ranks of a tensor group: T must divide the heads, the hidden size if all heads have one
     * width, and the sequence if it is divided too. The vocabulary may divide unevenly.
     */
    static void checkTensor(Values values, ModelSection model, ParallelSpec parallel) {
        if (!values.sound("parallel.tensor", "model.from")) {
            return;
        }
        boolean isDescribed = model instanceof ModelSection.Described;
        for (String key : List.of(HEADS, HIDDEN)) {
            boolean isOfHeads = key.equals(HEADS) || !model.values().containsKey(HEAD_SIZE);
            if (isOfHeads && (isDescribed || values.isGiven(key))) {
                checkMultiple(values, key, parallel.tensor());
            }
        }
        if (!parallel.sequence()) {
            return;
        }
        if (parallel.tensor() == 1) {
            values.report("parallel.sequence", "false with parallel.tensor = 1", "true",
                    "slices of the sequence are shared out among the ranks of a tensor group, so set parallel.tensor too");
        } else if (isDescribed || values.isGiven(SEQUENCE_LENGTH)) {
            checkMultiple(values, SEQUENCE_LENGTH, parallel.tensor());
        }
    }

    private static void checkMultiple(Values values, String key, int tensor) {
        if (values.sound(key) && values.integer(key, 1, MAX) % tensor != 0) {
            values.report(key, "a multiple of parallel.tensor = " + tensor, "change one of them");
        }
    }
}
