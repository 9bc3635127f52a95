package dev.troupe.peer;

import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.DoubleOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;

/**
 * A stage of GPT-2 in libtorch's eager operations: the same as {@code gpt.py}. B sequences of T tokens, C hidden size, H
 * heads, V vocabulary. Tokens [B x T] into the first stage, logits [B x T x V] out of the last, [B x T x C] between.
 */
final class Gpt2Stage {
    private static final double EPSILON = 1e-5;

    private record Affine(Tensor weight, Tensor bias) {
    }

    private record Block(Affine attentionNorm, Affine qkv, Affine attentionProjection, Affine innerNorm, Affine inner,
            Affine projection) {
    }

    private final Arguments model;
    private final boolean isFirst;
    private final boolean isLast;
    private final List<Tensor> parameters = new ArrayList<>();
    private final List<Block> blocks = new ArrayList<>();
    /** Null within the pipeline: each end has a copy of the table, as PyTorch's users have. */
    private final Tensor table;
    private final Tensor positions;
    private final Affine lastNorm;

    Gpt2Stage(Arguments model, int index, int count, PublishedWeights weights) {
        this.model = model;
        isFirst = index == 0;
        isLast = index == count - 1;
        table = isFirst || isLast ? added(weights.parameter("wte.weight")) : null;
        positions = isFirst ? added(weights.parameter("wpe.weight")) : null;
        int layers = model.layers() / count;
        for (int layer = index * layers; layer < (index + 1) * layers; layer++) {
            String name = "h." + layer + ".";
            blocks.add(new Block(norm(weights, name + "ln_1"), linear(weights, name + "attn.c_attn"),
                    linear(weights, name + "attn.c_proj"), norm(weights, name + "ln_2"),
                    linear(weights, name + "mlp.c_fc"), linear(weights, name + "mlp.c_proj")));
        }
        lastNorm = isLast ? norm(weights, "ln_f") : null;
    }

    private Affine norm(PublishedWeights weights, String name) {
        return new Affine(added(weights.parameter(name + ".weight")), added(weights.parameter(name + ".bias")));
    }

    private Affine linear(PublishedWeights weights, String name) {
        return new Affine(added(weights.transposedParameter(name + ".weight")),
                added(weights.parameter(name + ".bias")));
    }

    private Tensor added(Tensor parameter) {
        parameters.add(parameter);
        return parameter;
    }

    List<Tensor> parameters() {
        return parameters;
    }

    boolean isFirst() {
        return isFirst;
    }

    boolean isLast() {
        return isLast;
    }

    /** The table of embeddings; null within the pipeline. */
    Tensor table() {
        return table;
    }

    /** Runs in a scope of the caller that frees what is left of the intermediate handles. */
    Tensor forward(Tensor input) {
        Tensor x = isFirst ? torch.embedding(table, input).add(positions) : input;
        for (Block block : blocks) {
            x = block(block, x);
        }
        return isLast ? torch.linear(norm(lastNorm, x), table) : x;
    }

    private Tensor block(Block block, Tensor x) {
        int size = model.microbatchSize();
        int length = model.sequence();
        int hidden = model.hidden();
        TensorVector parts = linear(block.qkv, norm(block.attentionNorm, x)).split(hidden, 2);
        Tensor attended = attention(parts.get(0), parts.get(1), parts.get(2));
        Tensor rows = attended.transpose(1, 2).reshape(size, length, hidden);
        Tensor middle = x.add(linear(block.attentionProjection, rows));
        Tensor inner = torch.gelu(linear(block.inner, norm(block.innerNorm, middle)), "tanh");
        return middle.add(linear(block.projection, inner));
    }

    /**
     * In float32 also under autocast: this build's products of bfloat16 inside attention are OpenBLAS's, which made its
     * forward ten times and its backward four times as slow as in float32.
     */
    private Tensor attention(Tensor query, Tensor key, Tensor value) {
        torch.set_autocast_enabled(torch.DeviceType.CPU, false);
        Tensor attended = torch.scaled_dot_product_attention(heads(query), heads(key), heads(value),
                new TensorOptional(), 0, true, new DoubleOptional(), false);
        torch.set_autocast_enabled(torch.DeviceType.CPU, model.inBfloat16());
        return attended;
    }

    private Tensor heads(Tensor part) {
        return part.view(model.microbatchSize(), model.sequence(), model.heads(), model.hidden() / model.heads())
                .transpose(1, 2).to(torch.ScalarType.Float);
    }

    private Tensor norm(Affine norm, Tensor x) {
        return torch.layer_norm(x, new long[]{model.hidden()}, new TensorOptional(norm.weight),
                new TensorOptional(norm.bias), EPSILON, false);
    }

    private static Tensor linear(Affine affine, Tensor x) {
        return torch.linear(x, affine.weight, new TensorOptional(affine.bias));
    }
}
