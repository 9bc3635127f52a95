package dev.troupe.model.rotary;

import dev.troupe.layer.Adapter;
import dev.troupe.layer.EmbeddingLayer;
import dev.troupe.layer.HeadLayer;
import dev.troupe.layer.Norm;
import dev.troupe.layer.ResidualLayer;
import dev.troupe.layer.experts.ExpertsHalf;
import dev.troupe.layer.rotary.GatedMlp;
import dev.troupe.layer.rotary.GatedMlpHalf;
import dev.troupe.layer.rotary.Projection;
import dev.troupe.layer.rotary.RotaryAttentionHalf;
import dev.troupe.model.LayerSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.Init;
import dev.troupe.model.spec.LayerCosts;
import dev.troupe.model.spec.Lora;
import dev.troupe.model.spec.NamedShape;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.model.spec.Split;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The layers of a model of Llama's kind (Touvron et al. 2023) under its published names; matrices are [out x in]. Norms
 * begin at 1, biases at 0, and tables and matrices normal with deviation 0.02, the {@code initializer_range} of the
 * published configurations.
 *
 * <p>Hidden size C, heads H of D numbers, K of them with keys and values, inner width I, vocabulary V; N rows of a
 * microbatch, T their sequence.
 */
final class RotaryLayers {
    static final double DEVIATION = 0.02;
    private static final String QUERIES = "q_proj";
    private static final String KEYS = "k_proj";
    private static final String VALUES = "v_proj";
    private static final String OUTPUT = "o_proj";
    static final String GATE = "gate_proj";
    static final String UP = "up_proj";
    static final String DOWN = "down_proj";
    static final String CHOICE_BIAS = "gate.e_score_correction_bias";
    /** The matrices of a block, which may have adapters. */
    static final List<String> MATRICES = List.of(QUERIES, KEYS, VALUES, OUTPUT, GATE, UP, DOWN);
    /** The same without the matrices of MLPs. */
    static final List<String> ATTENTION_MATRICES = MATRICES.subList(0, 4);
    /** The matrices that have adapters if none is named (Hu et al. 2022, section 4.2). */
    static final List<String> USUALLY_ADAPTED = List.of(QUERIES, VALUES);

    private final RotaryModel model;
    private final RotaryFamily family;
    private final int width;
    private final int attended;
    private final int keyValue;
    private final boolean trainsAll;

    RotaryLayers(RotaryModel model, RotaryFamily family) {
        this.model = model;
        this.family = family;
        this.width = model.hidden();
        this.attended = model.heads() * model.headSize();
        this.keyValue = model.keyValueHeads() * model.headSize();
        this.trainsAll = model.lora().isEmpty();
    }

    List<LayerSpec> all() {
        List<LayerSpec> layers = new ArrayList<>();
        layers.add(embedding());
        for (int block = 0; block < model.layers(); block++) {
            layers.add(attention(block));
            int number = block;
            layers.add(model.mlp().experts().filter(experts -> experts.areIn(number))
                    .map(experts -> experts(number, experts)).orElseGet(() -> mlp(number)));
        }
        layers.add(head());
        return layers;
    }

    private LayerSpec embedding() {
        ParameterSpec tokens = table("model.embed_tokens.weight");
        return new LayerSpec("embedding", "embedding", 'E', List.of(tokens), (_, _) -> LayerCosts.NONE,
                context -> new EmbeddingLayer(context, tokens, Optional.empty()));
    }

    /** Products of 2 N C (2 H D + 2 K D), and attention of 4 N T H D. */
    private LayerSpec attention(int block) {
        String name = "model.layers." + block;
        String inside = name + ".self_attn.";
        boolean biased = model.attention().isBiased();
        List<Norm.Spec> headNorms = model.attention().normalizesHeads()
                ? List.of(headNorm(inside + "q_norm"), headNorm(inside + "k_norm"))
                : List.of();
        RotaryAttentionHalf.Spec spec = new RotaryAttentionHalf.Spec(model.heads(), model.keyValueHeads(),
                norm(name + ".input_layernorm"),
                byOutputs(block, inside, QUERIES, Axis.ATTENDED, attended, biased),
                byOutputs(block, inside, KEYS, Axis.KEY_VALUE, keyValue, biased),
                byOutputs(block, inside, VALUES, Axis.KEY_VALUE, keyValue, biased), headNorms,
                byInputs(block, inside, OUTPUT, Axis.ATTENDED, attended), model.frequencies());
        return new LayerSpec("h." + block + ".attention", "h." + block, 'a', spec.parameters(),
                (rows, sequenceLength) -> new LayerCosts(product(rows, 2.0 * attended + 2.0 * keyValue),
                        4.0 * rows * sequenceLength * attended, product(rows, attended)),
                context -> new ResidualLayer(context, new RotaryAttentionHalf(context, block + 1, spec)));
    }

    /** Products of 2 N C 3 I. */
    private LayerSpec mlp(int block) {
        String name = "model.layers." + block;
        String inside = name + ".mlp.";
        int inner = model.mlp().inner();
        GatedMlpHalf.Spec spec = new GatedMlpHalf.Spec(norm(name + ".post_attention_layernorm"),
                gatedMlp(block, inside, Axis.INNER, inner));
        return new LayerSpec("h." + block + ".mlp", "h." + block, 'm', spec.parameters(),
                (rows, _) -> new LayerCosts(product(rows, 3.0 * inner), 0, product(rows, inner)),
                context -> new ResidualLayer(context, new GatedMlpHalf(context, block + 1, spec)));
    }

    private GatedMlp.Spec gatedMlp(int block, String inside, Axis axis, int inner) {
        return new GatedMlp.Spec(byOutputs(block, inside, GATE, axis, inner, false),
                byOutputs(block, inside, UP, axis, inner, false), byInputs(block, inside, DOWN, axis, inner));
    }

    /** Products of 2 N C (E + 3 k I + 3 S), S the inner width of the shared experts. */
    private LayerSpec experts(int block, Experts experts) {
        String name = "model.layers." + block;
        ExpertNames names = family.expertNames();
        String inside = name + "." + names.inside();
        ParameterSpec router = new ParameterSpec(inside + "gate.weight",
                NamedShape.of(Axis.EXPERTS, experts.count(), Axis.HIDDEN, width), new Init.Normal(DEVIATION),
                new Split.WholeForOwnHeads(), true, trainsAll);
        Optional<ParameterSpec> bias = experts.router().choosesByBias()
                ? Optional.of(ParameterSpec.ofLoads(inside + CHOICE_BIAS,
                        NamedShape.of(Axis.EXPERTS, experts.count()), trainsAll))
                : Optional.empty();
        Optional<GatedMlp.Spec> shared = experts.sharedInner() == 0
                ? Optional.empty()
                : Optional.of(gatedMlp(block, inside + "shared_experts.", Axis.SHARED_INNER, experts.sharedInner()));
        ExpertsHalf.Spec spec = new ExpertsHalf.Spec(norm(name + ".post_attention_layernorm"), experts.router(), router,
                bias, experts.perToken(), IntStream.range(0, experts.count())
                        .mapToObj(expert -> expert(inside + "experts." + expert + ".", names, experts.inner()))
                        .toList(),
                shared, experts.training());
        double chosen = (double) experts.perToken() * experts.inner() + experts.sharedInner();
        return new LayerSpec("h." + block + ".mlp", "h." + block, 'm', spec.parameters(),
                (rows, _) -> new LayerCosts(product(rows, experts.count() + 3 * chosen), 0, product(rows, chosen)),
                context -> new ResidualLayer(context, new ExpertsHalf(context, block + 1, spec)));
    }

    private ExpertsHalf.Expert expert(String inside, ExpertNames names, int inner) {
        return new ExpertsHalf.Expert(outOfStream(inside + names.gate(), Axis.EXPERT_INNER, inner),
                outOfStream(inside + names.up(), Axis.EXPERT_INNER, inner),
                intoStream(inside + names.down(), Axis.EXPERT_INNER, inner));
    }

    /** A product of 2 N C V. */
    private LayerSpec head() {
        Norm.Spec norm = norm("model.norm");
        ParameterSpec output = table(model.tiedEmbeddings() ? "model.embed_tokens.weight" : "lm_head.weight");
        return new LayerSpec("head", "head", 'L', Stream.concat(norm.parameters().stream(), Stream.of(output)).toList(),
                (rows, _) -> new LayerCosts(product(rows, model.vocabularySize()), 0, 0),
                context -> new HeadLayer(context, norm, output));
    }

    /** Returns the operations of a product [N x C] [C x outputs]. */
    private double product(int rows, double outputs) {
        return 2.0 * rows * width * outputs;
    }

    private ParameterSpec table(String name) {
        return new ParameterSpec(name, NamedShape.of(Axis.VOCABULARY, model.vocabularySize(), Axis.HIDDEN, width),
                new Init.Normal(DEVIATION), new Split.Along(Axis.VOCABULARY, List.of(model.vocabularySize())), true,
                trainsAll);
    }

    private Norm.Spec norm(String name) {
        return new Norm.Spec(vector(name + ".weight", Axis.HIDDEN, width, 1, new Split.Whole()), Optional.empty(),
                model.normEpsilon());
    }

    private Norm.Spec headNorm(String name) {
        return new Norm.Spec(vector(name + ".weight", Axis.HEAD, model.headSize(), 1, new Split.WholeForOwnHeads()),
                Optional.empty(), model.normEpsilon());
    }

    /** From the stream; each rank has some outputs. */
    private Projection.Spec byOutputs(int block, String inside, String matrix, Axis outputs, int count,
            boolean biased) {
        Split split = new Split.Along(outputs, List.of(count));
        return new Projection.Spec(
                outOfStream(inside + matrix, outputs, count),
                biased ? Optional.of(vector(inside + matrix + ".bias", outputs, count, 0, split)) : Optional.empty(),
                adapter(block, inside, matrix, outputs, count, Axis.HIDDEN, width, outputs));
    }

    /** Into the stream; each rank has some inputs. */
    private Projection.Spec byInputs(int block, String inside, String matrix, Axis inputs, int count) {
        return new Projection.Spec(
                intoStream(inside + matrix, inputs, count),
                Optional.empty(), adapter(block, inside, matrix, Axis.HIDDEN, width, inputs, count, inputs));
    }

    /** Returns a matrix of {@code count} outputs, of which each rank has some. */
    private ParameterSpec outOfStream(String name, Axis outputs, int count) {
        return ParameterSpec.hiddenMatrix(name + ".weight", NamedShape.of(outputs, count, Axis.HIDDEN, width),
                new Init.Normal(DEVIATION), new Split.Along(outputs, List.of(count)), trainsAll);
    }

    /** Returns a matrix of {@code count} inputs, of which each rank has some. */
    private ParameterSpec intoStream(String name, Axis inputs, int count) {
        return ParameterSpec.hiddenMatrix(name + ".weight", NamedShape.of(Axis.HIDDEN, width, inputs, count),
                new Init.Normal(DEVIATION), new Split.Along(inputs, List.of(count)), trainsAll);
    }

    /** Initially A is uniform within 1 / sqrt(inputs), as in PEFT, and B is 0, so that nothing is added. */
    private Optional<Adapter.Spec> adapter(int block, String inside, String matrix, Axis outputs, int outputCount,
            Axis inputs, int inputCount, Axis shared) {
        String name = inside + matrix + ".weight";
        return model.lora().filter(lora -> lora.targets().contains(matrix)).map(lora -> {
            Split ofInputs = shared == inputs
                    ? new Split.Along(inputs, List.of(inputCount))
                    : new Split.WholeForOwnHeads();
            Split ofOutputs = shared == outputs
                    ? new Split.Along(outputs, List.of(outputCount))
                    : new Split.WholeForOwnHeads();
            return new Adapter.Spec(block * MATRICES.size() + MATRICES.indexOf(matrix),
                    new ParameterSpec(Lora.nameOfDown(name),
                            NamedShape.of(Axis.ADAPTER, lora.rank(), inputs, inputCount),
                            new Init.Uniform(1 / Math.sqrt(inputCount)), ofInputs, true),
                    new ParameterSpec(Lora.nameOfUp(name),
                            NamedShape.of(outputs, outputCount, Axis.ADAPTER, lora.rank()), new Init.Constant(0),
                            ofOutputs, true),
                    lora.scale());
        });
    }

    private ParameterSpec vector(String name, Axis axis, int size, double value, Split split) {
        return new ParameterSpec(name, NamedShape.of(axis, size), new Init.Constant(value), split, false, trainsAll);
    }
}
