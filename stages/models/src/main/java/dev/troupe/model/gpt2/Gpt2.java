package dev.troupe.model.gpt2;

import dev.troupe.engine.TooManyElementsException;
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
 * The numbers of a GPT-2 model (Radford et al. 2019).
 *
 * @param layers transformer blocks
 * @param hidden width C of the residual stream; divides by {@code heads}
 * @param heads attention heads H
 * @param sequenceLength longest sequence T: rows of the position table
 * @param vocabularySize tokens V
 * @param tiedEmbeddings whether the head's matrix is the token table
 * @param lora the adapters, if only these are trained; empty if everything is
 */
public record Gpt2(int layers, int hidden, int heads, int sequenceLength, int vocabularySize, boolean tiedEmbeddings,
        double normEpsilon, Optional<Lora> lora) {
    /** The published models' epsilon. */
    public static final double NORM_EPSILON = 1e-5;
    private static final Set<String> KEYS = Set.of("layers", "hidden", "heads", "sequence-length", "vocabulary-size",
            "tie-embeddings", "norm-epsilon");
    /** The largest hidden size: {@link #inner} is then as wide as a tensor may be. */
    static final long MOST_HIDDEN = TooManyElementsException.MOST / 4;

    public Gpt2 {
        if (layers < 1 || hidden < 1 || heads < 1 || sequenceLength < 1 || vocabularySize < 1) {
            throw new IllegalArgumentException("layers, hidden, heads, sequence length and vocabulary size of a model"
                    + " must each be at least 1, but found " + layers + ", " + hidden + ", " + heads + ", "
                    + sequenceLength + " and " + vocabularySize);
        }
        if (hidden % heads != 0) {
            throw new IllegalArgumentException(
                    "hidden size " + hidden + " is not divisible by " + heads + " heads: change one of them");
        }
        if (hidden > MOST_HIDDEN) {
            throw new IllegalArgumentException(String.format(Locale.ROOT,
                    "the inner width of a block, 4 x model.hidden, would be %,d, and a width is at most %,d: lower"
                            + " model.hidden",
                    4L * hidden, TooManyElementsException.MOST));
        }
    }

    /** Creates a model without adapters. */
    public Gpt2(int layers, int hidden, int heads, int sequenceLength, int vocabularySize, boolean tiedEmbeddings,
            double normEpsilon) {
        this(layers, hidden, heads, sequenceLength, vocabularySize, tiedEmbeddings, normEpsilon, Optional.empty());
    }

    static Gpt2 of(Section section) {
        section.requireOnly(Stream.concat(KEYS.stream(), Lora.KEYS.stream()).collect(Collectors.toSet()),
                Gpt2Family.TITLE);
        return new Gpt2(section.positive("layers"), section.positive("hidden"), section.positive("heads"),
                section.positive("sequence-length"), section.positive("vocabulary-size"),
                section.flag("tie-embeddings"), section.number("norm-epsilon", NORM_EPSILON),
                Lora.of(section));
    }

    private Section section() {
        Map<String, Object> values = new HashMap<>(Map.of("layers", layers, "hidden", hidden, "heads", heads,
                "sequence-length", sequenceLength, "vocabulary-size", vocabularySize, "tie-embeddings", tiedEmbeddings,
                "norm-epsilon", normEpsilon));
        lora.ifPresent(adapters -> values.putAll(adapters.values()));
        return new Section(values);
    }

    Gpt2 with(Lora adapters) {
        return new Gpt2(layers, hidden, heads, sequenceLength, vocabularySize, tiedEmbeddings, normEpsilon,
                Optional.of(adapters));
    }

    int inner() {
        return 4 * hidden;
    }

    public ModelSpec spec() {
        String summary = String.format(Locale.ROOT, "%s of %d layers, width %d, %d heads, vocabulary %d%s%s",
                Gpt2Family.TITLE, layers, hidden, heads, vocabularySize, tiedEmbeddings ? ", tied embeddings" : "",
                lora.map(Lora::summary).orElse(""));
        Map<Axis, Integer> sizes = new EnumMap<>(
                Map.of(Axis.VOCABULARY, vocabularySize, Axis.POSITION, sequenceLength, Axis.HIDDEN, hidden, Axis.HEADS,
                        heads, Axis.QUERY_KEY_VALUE, 3 * hidden, Axis.ATTENDED, hidden, Axis.INNER,
                        inner()));
        lora.ifPresent(one -> sizes.put(Axis.ADAPTER, one.rank()));
        return new ModelSpec(new Gpt2Family(), section(), summary, layers, sizes, () -> new Gpt2Layers(this).all());
    }
}
