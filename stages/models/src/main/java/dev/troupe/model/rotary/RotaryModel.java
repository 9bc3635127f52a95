package dev.troupe.model.rotary;

import dev.troupe.engine.TooManyElementsException;
import dev.troupe.layer.rotary.Frequencies;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.Balance;
import dev.troupe.model.spec.ExpertTraining;
import dev.troupe.model.spec.Lora;
import dev.troupe.model.spec.Section;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The numbers of a model with rotary positions, gated units and norms by the root mean square.
 *
 * @param layers transformer blocks
 * @param hidden width C of the residual stream
 * @param attention the first halves of the blocks
 * @param mlp the second halves of the blocks
 * @param vocabularySize tokens V
 * @param tiedEmbeddings whether the head's matrix is the token table
 * @param lora the adapters, if only these are trained; empty if everything is
 */
record RotaryModel(int layers, int hidden, Attention attention, Mlp mlp, int sequenceLength, int vocabularySize,
        boolean tiedEmbeddings, double normEpsilon, Optional<Lora> lora) {
    static final double NORM_EPSILON = 1e-6;
    static final double ROTARY_BASE = 10_000;
    private static final String FACTOR = "rotary-factor";
    private static final String LOW = "rotary-low-factor";
    private static final String HIGH = "rotary-high-factor";
    private static final String LENGTH = "rotary-original-length";

    private static final String BIASED = "attention-bias";
    private static final String NORMALIZED = "normalize-heads";
    private static final String PART = "partial-rotary-factor";
    /** The keys of families that leave these to a model. */
    static final Set<String> ATTENTION_KEYS = Set.of(BIASED, NORMALIZED, PART);

    private static final Set<String> KEYS = Set.of("layers", "hidden", "heads", "key-value-heads", "head-size", "inner",
            "sequence-length", "vocabulary-size", "tie-embeddings", "norm-epsilon", "rotary-base", FACTOR, LOW, HIGH,
            LENGTH);

    /**
     * The first halves of the blocks.
     *
     * @param heads attention heads H
     * @param keyValueHeads heads with keys and values, K; divides H
     * @param isBiased whether queries, keys and values have a bias
     * @param normalizesHeads whether each head of queries and keys has a norm
     * @param frequencies of the positions, with the size D of a head
     */
    record Attention(int heads, int keyValueHeads, boolean isBiased, boolean normalizesHeads,
            Frequencies frequencies) {
        Attention {
            if (heads % keyValueHeads != 0) {
                throw new IllegalArgumentException(heads + " heads (model.heads) are not divisible by the "
                        + keyValueHeads + " with keys and values (model.key-value-heads): change one of them");
            }
            if (frequencies.headSize() % 2 != 0) {
                throw new IllegalArgumentException("the size of a head (model.head-size) must be even, since rotary"
                        + " positions turn pairs, but found " + frequencies.headSize());
            }
            if (frequencies.turned() % 2 != 0 || frequencies.turned() < 2) {
                throw new IllegalArgumentException("the part of a head that turns (partial_rotary_factor) must be an"
                        + " even number of at least 2 of its " + frequencies.headSize() + " numbers, but found "
                        + frequencies.turned());
            }
            requireWidth("model.heads x model.head-size", (long) heads * frequencies.headSize());
        }
    }

    /**
     * The second halves of the blocks.
     *
     * @param inner inner width I of an MLP
     * @param experts the experts in place of some MLPs; empty if every block has an MLP
     */
    record Mlp(int inner, Optional<Experts> experts) {
    }

    RotaryModel {
        if (mlp.experts.isPresent()) {
            mlp.experts.get().requireIn(layers);
        }
    }

    private static void requireWidth(String what, long width) {
        if (width > TooManyElementsException.MOST) {
            throw new IllegalArgumentException(String.format(Locale.ROOT,
                    "%s would be %,d, and a width is at most %,d: lower it", what, width,
                    TooManyElementsException.MOST));
        }
    }

    int heads() {
        return attention.heads;
    }

    int keyValueHeads() {
        return attention.keyValueHeads;
    }

    Frequencies frequencies() {
        return attention.frequencies;
    }

    int headSize() {
        return frequencies().headSize();
    }

    static RotaryModel of(Section section, RotaryFamily family) {
        section.requireOnly(Stream.of(KEYS, family.attentionKeys(), family.expertKeys(), Lora.KEYS).flatMap(Set::stream)
                .collect(Collectors.toSet()), family.title());
        int hidden = section.positive("hidden");
        int heads = section.positive("heads");
        int inner = section.has("inner") ? section.positive("inner") : usualInner(hidden);
        int headSize = section.has("head-size") ? section.positive("head-size") : headSize(hidden, heads);
        int turned = turned(headSize, section.number(PART, family.defaultPart()));
        Attention attention = new Attention(heads,
                section.has("key-value-heads") ? section.positive("key-value-heads") : heads,
                section.has(BIASED) ? section.flag(BIASED) : family.biasesQueriesKeysAndValues(),
                section.has(NORMALIZED) ? section.flag(NORMALIZED) : family.normalizesHeads(),
                new Frequencies(headSize, turned, section.number("rotary-base", ROTARY_BASE),
                        section.has(FACTOR) ? Optional.of(scaling(section)) : Optional.empty()));
        return new RotaryModel(section.positive("layers"), hidden, attention,
                new Mlp(inner, family.experts(section, inner)),
                section.positive("sequence-length"), section.positive("vocabulary-size"),
                section.flag("tie-embeddings"), section.number("norm-epsilon", family.defaultNormEpsilon()),
                Lora.of(section));
    }

    /** Returns the numbers of a head that turn. A share such as 0.29 of 100 is a little less than 29 in binary. */
    static int turned(int headSize, double part) {
        return (int) (headSize * part + 1e-6);
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
        return new RotaryModel(layers, hidden, attention, mlp, sequenceLength, vocabularySize, tiedEmbeddings,
                normEpsilon, Optional.of(adapters));
    }

    /** Returns the section of the model, in which the family writes its experts. */
    Section section(RotaryFamily family) {
        Map<String, Object> values = new HashMap<>(Map.of("layers", layers, "hidden", hidden, "heads", heads(),
                "key-value-heads", keyValueHeads(), "head-size", headSize(), "inner", mlp.inner, "sequence-length",
                sequenceLength, "vocabulary-size", vocabularySize, "tie-embeddings", tiedEmbeddings, "norm-epsilon",
                normEpsilon));
        if (!family.attentionKeys().isEmpty()) {
            values.put(BIASED, attention.isBiased);
            values.put(NORMALIZED, attention.normalizesHeads);
            values.put(PART, (double) frequencies().turned() / headSize());
        }
        values.put("rotary-base", frequencies().base());
        frequencies().scaling().ifPresent(scaling -> {
            values.put(FACTOR, scaling.factor());
            values.put(LOW, scaling.lowFactor());
            values.put(HIGH, scaling.highFactor());
            values.put(LENGTH, scaling.originalLength());
        });
        mlp.experts.ifPresent(experts -> values.putAll(family.values(experts)));
        lora.ifPresent(adapters -> values.putAll(adapters.values()));
        return new Section(values);
    }

    ModelSpec spec(RotaryFamily family) {
        String summary = String.format(Locale.ROOT, "%s of %d layers, width %d, %d heads (%d with keys and values),"
                + " %svocabulary %d%s%s", family.title(), layers, hidden, heads(), keyValueHeads(),
                mlp.experts.map(RotaryModel::summary).orElse(""), vocabularySize,
                tiedEmbeddings ? ", tied embeddings" : "", lora.map(Lora::summary).orElse(""));
        Map<Axis, Integer> sizes = new EnumMap<>(
                Map.of(Axis.VOCABULARY, vocabularySize, Axis.POSITION, sequenceLength, Axis.HIDDEN, hidden, Axis.HEADS,
                        heads(), Axis.KEY_VALUE_HEADS, keyValueHeads(), Axis.HEAD, headSize(), Axis.KEY_VALUE,
                        keyValueHeads() * headSize(), Axis.ATTENDED, heads() * headSize(), Axis.INNER, mlp.inner));
        lora.ifPresent(one -> sizes.put(Axis.ADAPTER, one.rank()));
        mlp.experts.ifPresent(experts -> {
            sizes.put(Axis.EXPERTS, experts.count());
            sizes.put(Axis.EXPERT_INNER, experts.inner());
            if (experts.sharedInner() > 0) {
                sizes.put(Axis.SHARED_INNER, experts.sharedInner());
            }
        });
        return new ModelSpec(family, section(family), summary, layers, sizes,
                () -> new RotaryLayers(this, family).all(), balance());
    }

    private static String summary(Experts experts) {
        return String.format(Locale.ROOT, "%d of %d experts a token%s%s, ", experts.perToken(), experts.count(),
                experts.sharedInner() == 0 ? "" : " and a shared one",
                summary(experts.training()));
    }

    private static String summary(ExpertTraining training) {
        StringJoiner parts = new StringJoiner(" and ", " with ", "").setEmptyValue("");
        if (training.auxiliaryLoss() > 0) {
            parts.add("an auxiliary loss of " + training.auxiliaryLoss());
        }
        if (training.routerZLoss() > 0) {
            parts.add("a z-loss of " + training.routerZLoss());
        }
        if (training.biasUpdateRate() > 0) {
            parts.add("a bias that moves by " + training.biasUpdateRate());
        }
        if (training.capacityFactor() > 0) {
            parts.add("a capacity of " + training.capacityFactor());
        }
        if (training.drawsSecond()) {
            parts.add("a random second expert");
        }
        return parts.toString();
    }

    private Optional<Balance> balance() {
        return mlp.experts.map(experts -> new Balance(experts.count(), experts.blocksOf(layers),
                experts.router().scoresAddUpToOne(), experts.training()));
    }
}
