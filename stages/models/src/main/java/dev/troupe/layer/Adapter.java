package dev.troupe.layer;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.model.spec.ParameterSpec;
import java.util.List;

/**
 * A low-rank adapter next to a matrix (Hu et al. 2022): it adds {@code s (dropout(x) A^T) B^T} to the matrix's output. K
 * inputs, M outputs, rank r: A [r x K], B [M x r]. Each rank of the tensor-parallel group has the rows of B for its outputs,
 * or the columns of A for its inputs. It has all of the other matrix; its gradient is the sum over the ranks.
 *
 * <p>Nothing is kept between forward and backward: {@code x A^T}, r numbers a row, is computed again.
 */
public final class Adapter {
    private final Engine engine;
    private final TensorPool pool;
    private final int number;
    private final Parameter down;
    private final Parameter up;
    private final double scale;
    private final TensorPool.Extent innerShape;
    private final int allInputs;
    private final int firstInput;
    /** Whether products read and write the same type, so that nothing is rounded between two of them. */
    private final boolean isOfOneType;

    /**
     * The parameters of an adapter.
     *
     * @param number the adapter's number in the model, for dropout
     * @param up B
     * @param scale s
     */
    public record Spec(int number, ParameterSpec down, ParameterSpec up, double scale) {
        public List<ParameterSpec> parameters() {
            return List.of(down, up);
        }
    }

    public Adapter(LayerContext context, Spec spec) {
        engine = context.engine();
        pool = context.pool();
        number = spec.number();
        down = context.parameter(spec.down());
        up = context.parameter(spec.up());
        scale = spec.scale();
        innerShape = context.activation(down.shape().size(0));
        allInputs = spec.down().shape().sizes().size(1);
        int own = down.shape().size(1);
        firstInput = own == allInputs ? 0 : context.group().rank() * own;
        isOfOneType = engine.computeType() == engine.parameterType();
    }

    public List<Parameter> parameters() {
        return List.of(down, up);
    }

    /** Adds to y [N x M]. */
    public void addForward(Tensor x, Tensor y, MicrobatchContext microbatch) {
        Tensor inner = inner(x, microbatch);
        addProduct(inner, up, true, y);
        pool.give(inner);
    }

    /** Adds to dx [N x K] from dy [N x M]. */
    public void addBackwardInput(Tensor dy, Tensor dx, MicrobatchContext microbatch) {
        Tensor dInner = innerGradient(dy, microbatch);
        if (microbatch.dropoutKey().dropsInputs()) {
            Tensor added = pool.takeLike(dx);
            engine.matmul(dInner, false, down.computeWeights(), false, added, false);
            engine.dropout(added, dropout(microbatch), added);
            engine.add(dx, added, dx);
            pool.give(added);
        } else {
            addProduct(dInner, down, false, dx);
        }
        pool.give(dInner);
    }

    /** Adds to the gradients of A and B. */
    public void backwardWeight(Tensor x, Tensor dy, MicrobatchContext microbatch) {
        Tensor inner = inner(x, microbatch);
        engine.matmul(dy, true, inner, false, up.gradient(), true);
        pool.give(inner);
        Tensor dInner = innerGradient(dy, microbatch);
        Tensor read = dropped(x, microbatch);
        engine.matmul(dInner, true, read, false, down.gradient(), true);
        giveUnless(x, read);
        pool.give(dInner);
    }

    private void addProduct(Tensor left, Parameter right, boolean transposeRight, Tensor sum) {
        if (isOfOneType) {
            engine.matmul(left, false, right.computeWeights(), transposeRight, sum, true);
            return;
        }
        Tensor added = pool.takeLike(sum);
        engine.matmul(left, false, right.computeWeights(), transposeRight, added, false);
        engine.add(sum, added, sum);
        pool.give(added);
    }

    /** {@code s dropout(x) A^T}. */
    private Tensor inner(Tensor x, MicrobatchContext microbatch) {
        Tensor read = dropped(x, microbatch);
        Tensor inner = scaled(read, down, true, microbatch);
        giveUnless(x, read);
        return inner;
    }

    /** {@code s dy B}. */
    private Tensor innerGradient(Tensor dy, MicrobatchContext microbatch) {
        return scaled(dy, up, false, microbatch);
    }

    private Tensor scaled(Tensor left, Parameter right, boolean transposeRight, MicrobatchContext microbatch) {
        Tensor product = pool.takeFloats(innerShape, microbatch.length());
        engine.matmul(left, false, right.computeWeights(), transposeRight, product, false);
        engine.scale(product, scale);
        if (isOfOneType) {
            return product;
        }
        Tensor rounded = pool.take(innerShape, microbatch.length());
        engine.cast(product, rounded);
        pool.give(product);
        return rounded;
    }

    private Tensor dropped(Tensor x, MicrobatchContext microbatch) {
        if (!microbatch.dropoutKey().dropsInputs()) {
            return x;
        }
        Tensor dropped = pool.takeLike(x);
        engine.dropout(x, dropout(microbatch), dropped);
        return dropped;
    }

    private void giveUnless(Tensor kept, Tensor tensor) {
        if (tensor != kept) {
            pool.give(tensor);
        }
    }

    private Dropout dropout(MicrobatchContext microbatch) {
        return microbatch.dropoutKey().ofInput(number, allInputs, firstInput);
    }
}
