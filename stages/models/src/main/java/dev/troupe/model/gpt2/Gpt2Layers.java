package dev.troupe.model.gpt2;

import dev.troupe.layer.Adapter;
import dev.troupe.layer.EmbeddingLayer;
import dev.troupe.layer.HeadLayer;
import dev.troupe.layer.Norm;
import dev.troupe.layer.ResidualLayer;
import dev.troupe.layer.absolute.AttentionHalf;
import dev.troupe.layer.absolute.Linear;
import dev.troupe.layer.absolute.MlpHalf;
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
import java.util.stream.Stream;

/**
 * The layers of a GPT-2 model (Radford et al. 2019), under their published names; matrices of a block are [in x out]. Norms
 * begin at 1, biases at 0, both tables and all matrices normal with deviation 0.02, and the two projections that end in the
 * residual stream with 0.02 / sqrt(2 blocks) (section 2.3; 0.02 is the {@code initializer_range} of the published models,
 * for positions too).
 *
 * <p>Blocks L, hidden size C, heads H, longest sequence T, vocabulary V; N rows of a microbatch.
 */
final class Gpt2Layers {
    static final double DEVIATION = 0.02;
    private static final String QUERY_KEY_VALUE = "attn.c_attn";
    private static final String ATTENTION_OUTPUT = "attn.c_proj";
    private static final String EXPANSION = "mlp.c_fc";
    private static final String MLP_OUTPUT = "mlp.c_proj";
    /** The matrices of a block, which may have adapters. */
    static final List<String> MATRICES = List.of(QUERY_KEY_VALUE, ATTENTION_OUTPUT, EXPANSION, MLP_OUTPUT);
    /** The matrices that have adapters if none is named, as in PEFT. */
    static final List<String> USUALLY_ADAPTED = List.of(QUERY_KEY_VALUE);

    private final Gpt2 model;
    private final int width;
    private final boolean trainsAll;

    Gpt2Layers(Gpt2 model) {
        this.model = model;
        this.width = model.hidden();
        this.trainsAll = model.lora().isEmpty();
    }

    List<LayerSpec> all() {
        List<LayerSpec> layers = new ArrayList<>();
        layers.add(embedding());
        for (int block = 0; block < model.layers(); block++) {
            layers.add(attention(block));
            layers.add(mlp(block));
        }
        layers.add(head());
        return layers;
    }

    private LayerSpec embedding() {
        ParameterSpec tokens = table("wte.weight");
        ParameterSpec positions = new ParameterSpec("wpe.weight",
                NamedShape.of(Axis.POSITION, model.sequenceLength(), Axis.HIDDEN, width), new Init.Normal(DEVIATION),
                new Split.Whole(), true, trainsAll);
        return new LayerSpec("embedding", "embedding", 'E', List.of(tokens, positions), (_, _) -> LayerCosts.NONE,
                context -> new EmbeddingLayer(context, tokens, Optional.of(positions)));
    }

    /** Products of 6 N C C and 2 N C C, and attention of 4 N T C. */
    private LayerSpec attention(int block) {
        String name = "h." + block;
        Norm.Spec norm = norm(name + ".ln_1");
        Linear.Spec qkv = byColumns(block, QUERY_KEY_VALUE, Axis.QUERY_KEY_VALUE, List.of(width, width, width));
        Linear.Spec projection = byRows(block, ATTENTION_OUTPUT, Axis.ATTENDED, width);
        return new LayerSpec(name + ".attention", name, 'a', parameters(norm, qkv, projection),
                (rows, sequenceLength) -> new LayerCosts(8 * square(rows), 4.0 * rows * sequenceLength * width,
                        2 * square(rows)),
                context -> new ResidualLayer(context,
                        new AttentionHalf(context, block + 1, model.heads(), norm, qkv, projection)));
    }

    /** Products of 8 N C C each. */
    private LayerSpec mlp(int block) {
        String name = "h." + block;
        Norm.Spec norm = norm(name + ".ln_2");
        Linear.Spec inner = byColumns(block, EXPANSION, Axis.INNER, List.of(model.inner()));
        Linear.Spec projection = byRows(block, MLP_OUTPUT, Axis.INNER, model.inner());
        return new LayerSpec(name + ".mlp", name, 'm', parameters(norm, inner, projection),
                (rows, _) -> new LayerCosts(16 * square(rows), 0, 8 * square(rows)),
                context -> new ResidualLayer(context, new MlpHalf(context, block + 1, norm, inner, projection)));
    }

    /** A product of 2 N C V. */
    private LayerSpec head() {
        Norm.Spec norm = norm("ln_f");
        ParameterSpec output = table(model.tiedEmbeddings() ? "wte.weight" : "lm_head.weight");
        return new LayerSpec("head", "head", 'L', Stream.concat(norm.parameters().stream(), Stream.of(output)).toList(),
                (rows, _) -> new LayerCosts(2.0 * rows * width * model.vocabularySize(), 0, 0),
                context -> new HeadLayer(context, norm, output));
    }

    /** N C C. */
    private double square(int rows) {
        return (double) rows * width * width;
    }

    private ParameterSpec table(String name) {
        return new ParameterSpec(name, NamedShape.of(Axis.VOCABULARY, model.vocabularySize(), Axis.HIDDEN, width),
                new Init.Normal(DEVIATION), new Split.Along(Axis.VOCABULARY, List.of(model.vocabularySize())), true,
                trainsAll);
    }

    private Norm.Spec norm(String name) {
        return new Norm.Spec(vector(name + ".weight", Axis.HIDDEN, width, 1, new Split.Whole()),
                Optional.of(vector(name + ".bias", Axis.HIDDEN, width, 0, new Split.Whole())), model.normEpsilon());
    }

    /** From the stream; each rank has some outputs. */
    private Linear.Spec byColumns(int block, String matrix, Axis outputs, List<Integer> pieces) {
        String name = "h." + block + "." + matrix;
        int count = pieces.stream().mapToInt(Integer::intValue).sum();
        Split split = new Split.Along(outputs, pieces);
        return new Linear.Spec(
                ParameterSpec.hiddenMatrix(name + ".weight", NamedShape.of(Axis.HIDDEN, width, outputs, count),
                        new Init.Normal(DEVIATION), split, trainsAll),
                vector(name + ".bias", outputs, count, 0, split),
                adapter(block, matrix, NamedShape.of(Axis.HIDDEN, width, outputs, count), new Split.WholeForOwnHeads(),
                        split));
    }

    /** Into the stream; each rank has some inputs, and the whole bias. */
    private Linear.Spec byRows(int block, String matrix, Axis inputs, int count) {
        String name = "h." + block + "." + matrix;
        Split split = new Split.Along(inputs, List.of(count));
        return new Linear.Spec(
                ParameterSpec.hiddenMatrix(name + ".weight", NamedShape.of(inputs, count, Axis.HIDDEN, width),
                        new Init.Normal(DEVIATION / Math.sqrt(2.0 * model.layers())), split, trainsAll),
                vector(name + ".bias", Axis.HIDDEN, width, 0, new Split.Whole()),
                adapter(block, matrix, NamedShape.of(inputs, count, Axis.HIDDEN, width), split,
                        new Split.WholeForOwnHeads()));
    }

    /**
     * Initially A is uniform within 1 / sqrt(inputs), as in PEFT, and B is 0, so that nothing is added.
     *
     * @param shape of the matrix, [inputs x outputs]
     */
    private Optional<Adapter.Spec> adapter(int block, String matrix, NamedShape shape, Split ofInputs,
            Split ofOutputs) {
        NamedShape.Dimension inputs = shape.dimensions().getFirst();
        NamedShape.Dimension outputs = shape.dimensions().getLast();
        String name = "h." + block + "." + matrix + ".weight";
        return model.lora().filter(lora -> lora.targets().contains(matrix)).map(lora -> new Adapter.Spec(
                block * MATRICES.size() + MATRICES.indexOf(matrix),
                new ParameterSpec(Lora.nameOfDown(name),
                        NamedShape.of(Axis.ADAPTER, lora.rank(), inputs.axis(), inputs.size()),
                        new Init.Uniform(1 / Math.sqrt(inputs.size())), ofInputs, true),
                new ParameterSpec(Lora.nameOfUp(name),
                        NamedShape.of(outputs.axis(), outputs.size(), Axis.ADAPTER, lora.rank()), new Init.Constant(0),
                        ofOutputs, true),
                lora.scale()));
    }

    private ParameterSpec vector(String name, Axis axis, int size, double value, Split split) {
        return new ParameterSpec(name, NamedShape.of(axis, size), new Init.Constant(value), split, false, trainsAll);
    }

    private static List<ParameterSpec> parameters(Norm.Spec norm, Linear.Spec first,
            Linear.Spec second) {
        return Stream.of(norm.parameters(), first.parameters(), second.parameters()).flatMap(List::stream).toList();
    }
}
