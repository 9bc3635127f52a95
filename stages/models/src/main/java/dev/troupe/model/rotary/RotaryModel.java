package dev.troupe.model.rotary;

import dev.troupe.engine.TooManyElementsException;
import dev.troupe.layer.rotary.Frequencies;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.Lora;
import dev.troupe.model.spec.Section;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The numbers of a model with rotary positions, gated units and norms by the root mean square.
 *
 * @param layers transformer blocks
 * @param hidden width C of the residual stream
 * @param heads attention heads H
 * @param keyValueHeads heads with keys and values, K; divides H
 * @param inner inner width I of an MLP
 * @param sequenceLength longest sequence that the model is for
 * @param vocabularySize tokens V
 * @param tiedEmbeddings whether the head's matrix is the token table
 * @param frequencies of the positions, with the size D of a head
 * @param lora the adapters, if only these are trained; empty if everything is
 */
record RotaryModel(int layers, int hidden, int heads, int keyValueHeads, int inner, int sequenceLength,
        int vocabularySize, boolean tiedEmbeddings, double normEpsilon, Frequencies frequencies,
        Optional<Lora> lora) {
    static final double NORM_EPSILON = 1e-6;
    static final double ROTARY_BASE = 10_000;
    private static final String FACTOR = "rotary-factor";
    private static final String LOW = "rotary-low-factor";
    private static final String HIGH = "rotary-high-factor";
    private static final String LENGTH = "rotary-original-length";

    private static final Set<String> KEYS = Set.of("layers", "hidden", "heads", "key-value-heads", "head-size", "inner",
            "sequence-length", "vocabulary-size", "tie-embeddings", "norm-epsilon", "rotary-base", FACTOR, LOW, HIGH,
            LENGTH);

    RotaryModel {
        if (heads % keyValueHeads != 0) {
            throw new IllegalArgumentException(heads + " heads (model.heads) are not divisible by the " + keyValueHeads
                    + " with keys and values (model.key-value-heads): change one of them");
        }
        if (frequencies.headSize() % 2 != 0) {
            throw new IllegalArgumentException("the size of a head (model.head-size) must be even, since rotary"
                    + " positions turn pairs, but found " + frequencies.headSize());
        }
        requireWidth("model.heads x model.head-size", (long) heads * frequencies.headSize());
    }

    private static void requireWidth(String what, long width) {
        if (width > TooManyElementsException.MOST) {
            throw new IllegalArgumentException(String.format(Locale.ROOT,
                    "%s would be %,d, and a width is at most %,d: lower it", what, width,
                    TooManyElementsException.MOST));
        }
    }

    int headSize() {
        return frequencies.headSize();
    }

    static RotaryModel of(Section section, String title) {
        section.requireOnly(Stream.concat(KEYS.stream(), Lora.KEYS.stream()).collect(Collectors.toSet()), title);
        int hidden = section.positive("hidden");
        int heads = section.positive("heads");
        int headSize = section.has("head-size") ? section.positive("head-size") : headSize(hidden, heads);
        return new RotaryModel(section.positive("layers"), hidden, heads,
                section.has("key-value-heads") ? section.positive("key-value-heads") : heads,
                section.has("inner") ? section.positive("inner") : usualInner(hidden),
                section.positive("sequence-length"), section.positive("vocabulary-size"),
                section.flag("tie-embeddings"), section.number("norm-epsilon", NORM_EPSILON),
                new Frequencies(headSize, section.number("rotary-base", ROTARY_BASE),
                        section.has(FACTOR) ? Optional.of(scaling(section)) : Optional.empty()),
                Lora.of(section));
    }

    /** Returns the size of a head if the heads divide the hidden size. */
    private static int headSize(int hidden, int heads) {
        if (hidden % heads != 0) {
            throw new IllegalArgumentException("hidden size " + hidden + " is not divisible by " + heads
                    + " heads: change one of them, or give model.head-size");
        }
        return hidden / heads;
    }

    /**
     * Returns the inner width that gives the number of weights of an ungated MLP of 4 C (Shazeer 2020), rounded up to a
     * multiple of 32.
     */
    private static int usualInner(int hidden) {
        long inner = Math.ceilDiv(8L * hidden, 3 * 32) * 32;
        requireWidth("model.inner", inner);
        return (int) inner;
    }

    private static Frequencies.Scaling scaling(Section section) {
        return new Frequencies.Scaling(section.number(FACTOR, 1), section.number(LOW, 1), section.number(HIGH, 4),
                section.positive(LENGTH));
    }

    RotaryModel with(Lora adapters) {
        return new RotaryModel(layers, hidden, heads, keyValueHeads, inner, sequenceLength, vocabularySize,
                tiedEmbeddings, normEpsilon, frequencies, Optional.of(adapters));
    }

    Section section() {
        Map<String, Object> values = new HashMap<>(Map.of("layers", layers, "hidden", hidden, "heads", heads,
                "key-value-heads", keyValueHeads, "head-size", headSize(), "inner", inner, "sequence-length",
                sequenceLength, "vocabulary-size", vocabularySize, "tie-embeddings", tiedEmbeddings, "norm-epsilon",
                normEpsilon));
        values.put("rotary-base", frequencies.base());
        frequencies.scaling().ifPresent(scaling -> {
            values.put(FACTOR, scaling.factor());
            values.put(LOW, scaling.lowFactor());
            values.put(HIGH, scaling.highFactor());
            values.put(LENGTH, scaling.originalLength());
        });
        lora.ifPresent(adapters -> values.putAll(adapters.values()));
        return new Section(values);
    }

    ModelSpec spec(RotaryFamily family) {
        String summary = String.format(Locale.ROOT, "%s of %d layers, width %d, %d heads (%d with keys and values),"
                + " vocabulary %d%s%s", family.title(), layers, hidden, heads, keyValueHeads, vocabularySize,
                tiedEmbeddings ? ", tied embeddings" : "", lora.map(Lora::summary).orElse(""));
        Map<Axis, Integer> sizes = new EnumMap<>(
                Map.of(Axis.VOCABULARY, vocabularySize, Axis.POSITION, sequenceLength, Axis.HIDDEN, hidden, Axis.HEADS,
                        heads, Axis.KEY_VALUE_HEADS, keyValueHeads, Axis.HEAD, headSize(), Axis.KEY_VALUE,
                        keyValueHeads * headSize(), Axis.ATTENDED, heads * headSize(), Axis.INNER, inner));
        lora.ifPresent(one -> sizes.put(Axis.ADAPTER, one.rank()));
        return new ModelSpec(family, section(), summary, layers, sizes,
                () -> new RotaryLayers(this, family).all());
    }
}
