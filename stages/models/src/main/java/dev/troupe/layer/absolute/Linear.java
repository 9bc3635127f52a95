package dev.troupe.layer.absolute;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.Adapter;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.MicrobatchContext;
import dev.troupe.layer.Parameter;
import dev.troupe.layer.ResidualStream;
import dev.troupe.layer.TensorPool;
import dev.troupe.model.spec.ParameterSpec;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A linear layer {@code y = x W + b} with its parameters: K inputs, M outputs, W [K x M], b [M]. Each rank of a group has
 * some of the outputs, or some of the inputs and all of b.
 */
public final class Linear {
    private final Engine engine;
    private final TensorPool pool;
    private final Parameter weight;
    private final Parameter bias;
    /** Null if there is none. */
    private final Adapter adapter;
    private final boolean isFirstOfGroup;

    /**
     * The parameters of a linear layer.
     *
     * @param weight [K x M]
     * @param bias [M]
     * @param adapter the adapter that is trained instead, if there is one
     */
    public record Spec(ParameterSpec weight, ParameterSpec bias, Optional<Adapter.Spec> adapter) {
        public List<ParameterSpec> parameters() {
            return Stream.concat(Stream.of(weight, bias),
                    adapter.stream().flatMap(one -> one.parameters().stream())).toList();
        }
    }

    Linear(LayerContext context, Spec spec) {
        engine = context.engine();
        pool = context.pool();
        weight = context.parameter(spec.weight());
        bias = context.parameter(spec.bias());
        adapter = spec.adapter().map(one -> new Adapter(context, one)).orElse(null);
        isFirstOfGroup = context.group().rank() == 0;
    }

    List<Parameter> parameters() {
        return Stream.concat(Stream.of(weight, bias),
                Stream.ofNullable(adapter).flatMap(one -> one.parameters().stream())).toList();
    }

    int inputs() {
        return weight.shape().size(0);
    }

    int outputs() {
        return weight.shape().size(1);
    }

    /** x [N x K], y [N x M]. */
    void forward(Tensor x, Tensor y, MicrobatchContext microbatch) {
        engine.linear(x, weight.computeWeights(), false, bias.weights(), y);
        addAdapter(x, y, microbatch);
    }

    void forwardGelu(Tensor x, Tensor preActivation, Tensor y, MicrobatchContext microbatch) {
        if (adapter == null) {
            engine.linearGelu(x, weight.computeWeights(), bias.weights(), preActivation, y);
        } else {
            forward(x, preActivation, microbatch);
            engine.gelu(preActivation, y);
        }
    }

    /**
     * Returns this rank's part of the sum over the ranks, each of which has some columns of x; the caller takes it over. All
     * ranks have the bias; the first one adds it.
     *
     * @param allRows [N x M]
     */
    Tensor forwardIntoSum(Tensor x, TensorPool.Extent allRows, ResidualStream stream, MicrobatchContext microbatch) {
        Tensor y = pool.take(allRows, microbatch.length());
        if (isFirstOfGroup) {
            engine.linear(x, weight.computeWeights(), false, bias.weights(), y);
        } else {
            engine.matmul(x, false, weight.computeWeights(), false, y, false);
        }
        addAdapter(x, y, microbatch);
        return stream.leave(y, microbatch.length());
    }

    private void addAdapter(Tensor x, Tensor y, MicrobatchContext microbatch) {
        if (adapter != null) {
            adapter.addForward(x, y, microbatch);
        }
    }

    /** dx [N x K] from dy [N x M]. */
    void backwardInput(Tensor dy, Tensor dx, MicrobatchContext microbatch) {
        engine.matmul(dy, false, weight.computeWeights(), true, dx, false);
        if (adapter != null) {
            adapter.addBackwardInput(dy, dx, microbatch);
        }
    }

    /** Adds to the gradients of the parameters that are trained. */
    void backwardWeight(Tensor x, Tensor dy, MicrobatchContext microbatch) {
        if (weight.spec().isTrained()) {
            engine.matmul(x, true, dy, false, weight.gradient(), true);
            engine.biasBackward(dy, bias.gradient());
        }
        if (adapter != null) {
            adapter.backwardWeight(x, dy, microbatch);
        }
    }
}
