package dev.troupe.optimizer;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.OptimizerKernels.Momentum;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.Parameter;
import dev.troupe.layer.TensorPool;
import dev.troupe.shard.BufferLayout.Run;
import dev.troupe.shard.Moments;
import dev.troupe.shard.StageBuffers;
import dev.troupe.shard.StateTensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;

/**
 * Muon's updates of the matrices of hidden layers (Jordan et al. 2024). Each is computed in place of its gradient, by
 * products and sums of the engine in a fixed order, so that the same gradients give the same bits.
 *
 * <p>Thread rule: as for kernels.
 */
final class MatrixUpdates {
    private static final int ITERATIONS = 5;
    /** Coefficients of {@code a x + b x^3 + c x^5}, which brings every singular value below 1 close to 1 in five steps. */
    private static final double A = 3.4445;
    private static final double B = -4.7750;
    private static final double C = 2.0315;
    /** Added to a norm to avoid a division by zero. */
    private static final double SMALLEST = 1e-7;
    /** The root mean square of AdamW's updates, in units of the learning rate (Liu et al. 2025). */
    private static final double SIZE_OF_ADAMW = 0.2;
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final Engine engine;
    private final StageBuffers buffers;
    private final Optimizer.Muon rule;
    private final TensorPool pool;
    private final List<Matrix> matrices;
    /** The squared norms of all momenta, which the host reads in one copy. */
    private final Tensor squaredNorms;
    private final MemorySegment norms;

    /** @param gradients by the sum of gradients that an update uses */
    private record Matrix(Shape shape, Tensor weights, List<Tensor> gradients, Moments momentum, Tensor velocity) {
    }

    /** Allocates the momenta of all matrices. */
    MatrixUpdates(Engine engine, StageBuffers buffers, Optimizer.Muon rule, TensorPool pool) {
        this.engine = engine;
        this.buffers = buffers;
        this.rule = rule;
        this.pool = pool;
        this.matrices = buffers.matrices().stream().map(this::matrix).toList();
        int count = Math.max(1, matrices.size()); // a tensor has at least one element
        this.squaredNorms = buffers.own(DataType.FLOAT64, Shape.of(count));
        this.norms = MemorySegment.ofArray(new long[count]);
    }

    private Matrix matrix(Parameter parameter) {
        if (!parameter.slice().isWhole()) {
            throw new IllegalArgumentException(
                    "Muon takes whole matrices, but the ranks of a tensor-parallel group share "
                            + parameter.name() + " out: set parallel.tensor to 1, or take another optimizer");
        }
        Run run = buffers.runOf(parameter);
        Moments momentum = buffers.allocateMoments(run);
        return new Matrix(parameter.shape(), buffers.weights().part(run.piece(), parameter.shape()),
                buffers.gradientSums().stream().map(sum -> sum.part(run.piece(), parameter.shape())).toList(), momentum,
                engine.range(momentum.tensor(), 0, parameter.shape()));
    }

    /** Updates the weights of all matrices by the gradients in use, which are zero afterwards. */
    void step(double learningRate, double gradientScale) {
        if (matrices.isEmpty()) {
            return;
        }
        for (int index = 0; index < matrices.size(); index++) {
            Matrix matrix = matrices.get(index);
            lookAhead(matrix, gradientScale);
            engine.squaredSum(gradient(matrix), squaredNorms, index);
        }
        engine.copyToHost(squaredNorms, 0, norms);
        for (int index = 0; index < matrices.size(); index++) {
            Matrix matrix = matrices.get(index);
            Tensor update = gradient(matrix);
            engine.scale(update, 1 / (Math.sqrt(norms.getAtIndex(DOUBLE, index)) + SMALLEST));
            orthogonalize(update);
            int longer = Math.max(matrix.shape.size(0), matrix.shape.size(1));
            engine.scale(matrix.weights, 1 - learningRate * rule.others().weightDecay());
            engine.scale(update, -learningRate * SIZE_OF_ADAMW * Math.sqrt(longer));
            engine.add(matrix.weights, update, matrix.weights);
            engine.fill(update, 0);
        }
    }

    private Tensor gradient(Matrix matrix) {
        return matrix.gradients.get(buffers.sumIndex());
    }

    /** Turns the gradient into Nesterov's momentum: the result of SGD with a rate of -1 on weights of zero. */
    private void lookAhead(Matrix matrix, double gradientScale) {
        Tensor ahead = pool.takeFloats(matrix.shape);
        engine.fill(ahead, 0);
        engine.sgdMomentum(ahead, gradient(matrix), matrix.velocity,
                new Momentum(-1, rule.momentum(), true, 0, gradientScale));
        engine.copy(ahead, gradient(matrix));
        pool.give(ahead);
    }

    /**
     * Takes Newton-Schulz steps: with the shorter side first, {@code X = A X + (B S + C S S) X} with {@code S = X X^T}. Sums
     * are in the engine's float type, and operands in its product type.
     */
    private void orthogonalize(Tensor x) {
        Shape shape = x.shape();
        boolean isWide = shape.size(0) <= shape.size(1);
        int shorter = Math.min(shape.size(0), shape.size(1));
        Tensor operand = pool.take(shape);
        Tensor square = pool.takeFloats(Shape.of(shorter, shorter));
        Tensor squareOperand = pool.take(Shape.of(shorter, shorter));
        for (int iteration = 0; iteration < ITERATIONS; iteration++) {
            engine.cast(x, operand);
            engine.matmul(operand, !isWide, operand, isWide, square, false);
            engine.cast(square, squareOperand);
            engine.scale(square, B / C);
            engine.matmul(squareOperand, false, squareOperand, false, square, true);
            engine.scale(square, C);
            engine.cast(square, squareOperand);
            engine.scale(x, A);
            if (isWide) {
                engine.matmul(squareOperand, false, operand, false, x, true);
            } else {
                engine.matmul(operand, false, squareOperand, false, x, true);
            }
        }
        pool.give(squareOperand);
        pool.give(square);
        pool.give(operand);
    }

    /** Appends the momentum of a parameter that is one of the matrices. */
    void addTo(List<StateTensor> state, Parameter parameter, boolean copy) {
        matrices.forEach(matrix -> matrix.momentum
                .held(StateTensor.moment(Optimizer.MOMENTUM, parameter.name()), parameter, copy)
                .ifPresent(state::add));
    }
}
