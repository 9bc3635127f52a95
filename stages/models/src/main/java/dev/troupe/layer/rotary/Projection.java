package dev.troupe.layer.rotary;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.Adapter;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.MicrobatchContext;
import dev.troupe.layer.Parameter;
import dev.troupe.layer.TensorPool;
import dev.troupe.model.spec.ParameterSpec;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A projection {@code y = x W^T + b} with its parameters, as published: K inputs, M outputs, W [M x K], optional b [M]. Each
 * rank of a group has some of the outputs or, without b, some of the inputs.
 */
public final class Projection {
    private final Engine engine;
    private final TensorPool pool;
    private final Parameter weight;
    /** Null if there is none. */
    private final Parameter bias;
    /** Null if there is none. */
    private final Adapter adapter;

    /**
     * The parameters of a projection.
     *
     * @param weight [M x K]
     * @param bias [M], if there is one
     * @param adapter the adapter that is trained instead, if there is one
     */
    public record Spec(ParameterSpec weight, Optional<ParameterSpec> bias, Optional<Adapter.Spec> adapter) {
        public List<ParameterSpec> parameters() {
            return Stream.of(Stream.of(weight), bias.stream(),
                    adapter.stream().flatMap(one -> one.parameters().stream())).flatMap(some -> some).toList();
        }
    }

    Projection(LayerContext context, Spec spec) {
        engine = context.engine();
        pool = context.pool();
        weight = context.parameter(spec.weight());
        bias = spec.bias().map(context::parameter).orElse(null);
        adapter = spec.adapter().map(one -> new Adapter(context, one)).orElse(null);
    }

    List<Parameter> parameters() {
        return Stream.of(Stream.of(weight), Stream.ofNullable(bias),
                Stream.ofNullable(adapter).flatMap(one -> one.parameters().stream())).flatMap(some -> some).toList();
    }

    int outputs() {
        return weight.shape().size(0);
    }

    int inputs() {
        return weight.shape().size(1);
    }

    /** x [N x K], y [N x M]. */
    void forward(Tensor x, Tensor y, MicrobatchContext microbatch) {
        if (bias == null) {
            engine.matmul(x, false, weight.computeWeights(), true, y, false);
        } else {
            engine.linear(x, weight.computeWeights(), true, bias.weights(), y);
        }
        if (adapter != null) {
            adapter.addForward(x, y, microbatch);
        }
    }

    /** dx [N x K] from dy [N x M]. */
    void backwardInput(Tensor dy, Tensor dx, MicrobatchContext microbatch) {
        engine.matmul(dy, false, weight.computeWeights(), false, dx, false);
        if (adapter != null) {
            adapter.addBackwardInput(dy, dx, microbatch);
        }
    }

    /** Adds to dx [N x K]. */
    void addBackwardInput(Tensor dy, Tensor dx, MicrobatchContext microbatch) {
        Tensor addend = pool.takeLike(dx);
        backwardInput(dy, addend, microbatch);
        engine.add(dx, addend, dx);
        pool.give(addend);
    }

    /** Adds to the gradients of the parameters that are trained. */
    void backwardWeight(Tensor x, Tensor dy, MicrobatchContext microbatch) {
        if (weight.spec().isTrained()) {
            engine.matmul(dy, true, x, false, weight.gradient(), true);
            if (bias != null) {
                engine.biasBackward(dy, bias.gradient());
            }
        }
        if (adapter != null) {
            adapter.backwardWeight(x, dy, microbatch);
        }
    }
}
