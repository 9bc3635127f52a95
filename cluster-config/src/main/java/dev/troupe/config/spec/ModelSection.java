package dev.troupe.config.spec;

import dev.troupe.config.value.Range;
import dev.troupe.config.value.Texts;
import dev.troupe.config.value.Values;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The model of a run: loaded from a directory, or made new and initialized from the seed.
 *
 * @param directory absolute path of a directory in Hugging Face layout; empty: a new model
 * @param family name of the architecture; empty: the directory defines it
 * @param values the numbers and flags from which the family makes a model, by key without {@code model.}: all for a new
 *     model; for a directory the given ones, which must agree with it, except for a shorter sequence
 */
public record ModelSection(Optional<Path> directory, Optional<String> family, Map<String, Object> values) {
    private static final int MAX = Integer.MAX_VALUE;
    /** With embedding and head, the number of layers is the greatest number of stages. */
    private static final int MOST_LAYERS = ParallelSpec.MOST_RANKS_IN_ALL - 2;
    private static final String SECTION = "model.";
    private static final String FAMILY = "family";
    private static final String HIDDEN = "model.hidden";
    private static final String HEADS = "model.heads";
    private static final String HEAD_SIZE = "head-size";
    private static final String SEQUENCE_LENGTH = "model.sequence-length";
    private static final String VOCABULARY = "model.vocabulary-size";
    /** Keys of some families only; 0 means the family's own number. */
    private static final List<String> COUNTS = List.of("key-value-heads", HEAD_SIZE, "inner", "experts",
            "experts-per-token", "expert-inner", "shared-experts", "first-dense-blocks", "expert-groups",
            "expert-groups-per-token");
    private static final List<String> NUMBERS = List.of("norm-epsilon", "rotary-base", "auxiliary-loss",
            "routed-scaling-factor", "partial-rotary-factor", "router-z-loss", "bias-update-rate", "capacity-factor");
    /** Keys of some families only; false means the same as none. */
    private static final List<String> FLAGS = List.of("random-second-expert");

    public ModelSection {
        Objects.requireNonNull(directory, "directory");
        Objects.requireNonNull(family, "family");
        values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
    }

    /**
     * Reads the section {@code model}.
     *
     * @param from directory of the model to start from, or null
     */
    public static ModelSection read(Values values, Path from, DataSpec data) {
        Map<String, Object> keys = new LinkedHashMap<>();
        keys.put(FAMILY, values.text("model.family", Texts.NAME));
        keys.put("layers", values.integer("model.layers", 1, MOST_LAYERS));
        int hidden = values.integer(HIDDEN, 1, MAX);
        keys.put("hidden", hidden);
        int heads = values.integer(HEADS, 1, MAX);
        keys.put("heads", heads);
        keys.put("sequence-length", values.integer(SEQUENCE_LENGTH, 1, MAX));
        int vocabularySize = values.integer(VOCABULARY, 0, MAX);
        keys.put("vocabulary-size", vocabularySize);
        keys.put("tie-embeddings", values.flag("model.tie-embeddings"));
        COUNTS.forEach(key -> keys.put(key, values.integer(SECTION + key, 0, MAX)));
        NUMBERS.forEach(key -> keys.put(key, values.decimal(SECTION + key, Range.NOT_NEGATIVE)));
        FLAGS.forEach(key -> keys.put(key, values.flag(SECTION + key)));
        List<String> open = keys.keySet().stream()
                .filter(key -> isOpen(key, keys.get(key), from == null || values.isGiven(SECTION + key), from == null))
                .toList();
        keys.keySet().removeAll(open);
        open.forEach(key -> values.leaveOut(SECTION + key));
        checkHeads(values, hidden, heads, from != null || keys.containsKey(HEAD_SIZE));
        if (from == null) {
            keys.put("vocabulary-size", vocabularySize(values, vocabularySize, data));
        }
        String family = (String) keys.remove(FAMILY);
        return new ModelSection(Optional.ofNullable(from), Optional.ofNullable(family), keys);
    }

    /** Returns whether the family or the directory defines the value of a key. */
    private static boolean isOpen(String key, Object value, boolean isGiven, boolean isNew) {
        boolean mayBeZero = COUNTS.contains(key) || NUMBERS.contains(key)
                || !isNew && (SECTION + key).equals(VOCABULARY);
        return !isGiven || FLAGS.contains(key) && value.equals(false)
                || mayBeZero && ((Number) value).doubleValue() == 0;
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
        if (data.namesTokenFiles() && size == 0) {
            values.report(VOCABULARY, "the number of token ids, which a .bin file does not contain", "0",
                    "set it, or model.from");
        }
        OptionalInt known = data.namesTokenFiles() ? OptionalInt.empty() : data.tokenizerVocabulary();
        int least = known.orElse(0);
        if (size != 0 && size < least) {
            values.report(VOCABULARY, "at least the " + least + " tokens of data.tokenizer = " + data.tokenizer(),
                    "" + size, "set it to 0 to take the tokenizer's");
        }
        int effective = size == 0 ? least : size;
        values.settle(VOCABULARY, effective);
        return effective;
    }

    /**
     * Reports numbers that a tensor group cannot divide. T must divide the heads, the hidden size if all heads have one
     * width, and with sequence parallelism the sequence. The vocabulary may be divided unevenly.
     */
    public void checkTensor(Values read, ParallelSpec parallel) {
        if (!read.sound("parallel.tensor", "model.from")) {
            return;
        }
        if (!parallel.sharding().isPlanned()) { // else the check of the plan knows which layers are divided
            checkMultiple(read, HEADS, parallel.tensor());
            if (!values.containsKey(HEAD_SIZE)) {
                checkMultiple(read, HIDDEN, parallel.tensor());
            }
        }
        if (parallel.sequence() && parallel.tensor() == 1) {
            read.report("parallel.sequence", "false with parallel.tensor = 1", "true",
                    "slices of the sequence are shared out among the ranks of a tensor group, so set parallel.tensor too");
        } else if (parallel.sequence()) {
            checkMultiple(read, SEQUENCE_LENGTH, parallel.tensor());
        }
    }

    private void checkMultiple(Values read, String key, int tensor) {
        boolean isKnown = values.containsKey(key.substring(SECTION.length()));
        if (isKnown && read.sound(key) && read.integer(key, 1, MAX) % tensor != 0) {
            read.report(key, "a multiple of parallel.tensor = " + tensor, "change one of them");
        }
    }

    /** Returns the tokens of a training sequence, if given. */
    public OptionalInt sequenceLength() {
        return values.get("sequence-length") instanceof Integer length ? OptionalInt.of(length) : OptionalInt.empty();
    }

    /** Returns the same model with the vocabulary of a tokenizer, unless it has one or is loaded from a directory. */
    public ModelSection withVocabulary(int size) {
        Map<String, Object> others = new LinkedHashMap<>(values);
        others.computeIfPresent("vocabulary-size", (_, own) -> own.equals(0) ? size : own);
        return new ModelSection(directory, family, others);
    }
}
