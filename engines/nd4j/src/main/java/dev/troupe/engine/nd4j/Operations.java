package dev.troupe.engine.nd4j;

import java.lang.ref.Reference;
import java.util.HashMap;
import java.util.Map;
import org.nd4j.linalg.api.blas.Level1;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.api.ops.DynamicCustomOp;
import org.nd4j.linalg.api.ops.OpContext;
import org.nd4j.linalg.api.ops.executioner.OpExecutioner;
import org.nd4j.linalg.api.ops.impl.broadcast.BroadcastCopyOp;
import org.nd4j.linalg.api.ops.impl.scalar.ScalarSet;
import org.nd4j.linalg.api.ops.impl.transforms.floating.RSqrt;
import org.nd4j.linalg.api.ops.impl.transforms.floating.Sqrt;
import org.nd4j.linalg.api.ops.impl.transforms.same.Cube;
import org.nd4j.linalg.api.ops.impl.transforms.same.Reciprocal;
import org.nd4j.linalg.api.ops.impl.transforms.same.Square;
import org.nd4j.linalg.api.ops.impl.transforms.same.TimesOneMinus;
import org.nd4j.linalg.api.ops.impl.transforms.strict.Exp;
import org.nd4j.linalg.api.ops.impl.transforms.strict.Log;
import org.nd4j.linalg.factory.Nd4j;

/**
 * The operations of ND4J of which kernels are composed, each into an existing array.
 *
 * <p>A custom operation keeps its native context from call to call and only replaces arrays: a new context costs three
 * times as much (7 instead of 2 microseconds), and its native memory waits for the garbage collector.
 *
 * <p>ND4J frees an array that is unreachable in Java. The dimension or the number of an operation is an array that only the
 * operation references; so a fence keeps the operation reachable until the native code has returned.
 *
 * <p>Thread rule: the rule of kernels.
 */
final class Operations {
    private final Map<String, Prepared> prepared = new HashMap<>();
    private final Map<Factors, Prepared> products = new HashMap<>();
    private final OpExecutioner executioner = Nd4j.getExecutioner();
    private final Level1 level1 = Nd4j.getBlasWrapper().level1();

    private record Factors(double alpha, double beta) {
    }

    /** A custom operation with its arguments set, and the context it runs in. */
    private final class Prepared {
        private final DynamicCustomOp operation;
        private final OpContext context = executioner.buildContext();

        Prepared(DynamicCustomOp operation) {
            this.operation = operation;
            context.setIArguments(operation.iArgs());
            context.setBArguments(operation.bArgs());
            context.setTArguments(operation.tArgs());
        }

        void run(INDArray input, INDArray output) {
            context.purge();
            context.setInputArray(0, input);
            context.setOutputArray(0, output);
            executioner.exec(operation, context);
        }

        void run(INDArray left, INDArray right, INDArray output) {
            context.purge();
            context.setInputArray(0, left);
            context.setInputArray(1, right);
            context.setOutputArray(0, output);
            executioner.exec(operation, context);
        }

        void run(INDArray[] inputs, INDArray[] outputs) {
            context.purge();
            for (int i = 0; i < inputs.length; i++) {
                context.setInputArray(i, inputs[i]);
            }
            for (int i = 0; i < outputs.length; i++) {
                context.setOutputArray(i, outputs[i]);
            }
            executioner.exec(operation, context);
        }
    }

    /**
     * {@code product = alpha left right + beta product}. Every array is dense in one of its two dimensions, so BLAS takes
     * it in place, and writes a column-major product in place. With a right side and a product of one dimension it is a
     * product with a vector.
     */
    void multiplyMatrices(double alpha, INDArray left, INDArray right, double beta, INDArray product) {
        products.computeIfAbsent(new Factors(alpha, beta), factors -> new Prepared(
                DynamicCustomOp.builder("matmul").addIntegerArguments(0, 0, 0)
                        .addFloatingPointArguments(factors.alpha, factors.beta).build()))
                .run(left, right, product);
    }

    /** {@code sums = alpha matrix factors + beta sums}: a number for each row of the matrix. */
    void weighRows(double alpha, INDArray matrix, ArrayViews factors, double beta, ArrayViews sums) {
        long rows = matrix.size(0);
        long columns = matrix.size(1);
        if (rows == 1 || columns == 1) {
            multiplyMatrices(alpha, matrix, factors.matrix(columns, 1), beta, sums.transposed(1, rows));
        } else {
            multiplyMatrices(alpha, matrix, factors.vector(columns), beta, sums.vector(rows));
        }
    }

    /** {@code sum = left + right}; a right side of one row or one column is repeated. */
    void add(INDArray left, INDArray right, INDArray sum) {
        custom("add").run(left, right, sum);
    }

    /** {@code difference = left - right}; a right side of one row or one column is repeated. */
    void subtract(INDArray left, INDArray right, INDArray difference) {
        custom("subtract").run(left, right, difference);
    }

    /** {@code product = left * right}, element by element; a right side of one row or one column is repeated. */
    void multiply(INDArray left, INDArray right, INDArray product) {
        custom("multiply").run(left, right, product);
    }

    /** {@code quotient = left / right}, element by element. */
    void divide(INDArray left, INDArray right, INDArray quotient) {
        custom("divide").run(left, right, quotient);
    }

    /** Sets every row of a matrix to {@code row}. */
    void repeatRow(INDArray row, INDArray matrix) {
        BroadcastCopyOp operation = new BroadcastCopyOp(matrix, row, matrix, 1);
        executioner.exec(operation);
        Reference.reachabilityFence(operation);
    }

    void fill(double value, INDArray elements) {
        ScalarSet operation = new ScalarSet(elements, value);
        executioner.exec(operation);
        Reference.reachabilityFence(operation);
    }

    void scale(double factor, INDArray elements) {
        level1.scal(elements.length(), factor, elements);
    }

    /** {@code sum += factor elements}. */
    void addScaled(double factor, INDArray elements, INDArray sum) {
        level1.axpy(elements.length(), factor, elements, sum);
    }

    void copy(INDArray source, INDArray target) {
        target.assign(source);
    }

    void exp(INDArray x, INDArray y) {
        executioner.exec(new Exp(x, y));
    }

    void log(INDArray x, INDArray y) {
        executioner.exec(new Log(x, y));
    }

    void square(INDArray x, INDArray y) {
        executioner.exec(new Square(x, y));
    }

    void cube(INDArray x, INDArray y) {
        executioner.exec(new Cube(x, y));
    }

    void reciprocal(INDArray x, INDArray y) {
        executioner.exec(new Reciprocal(x, y));
    }

    void root(INDArray x, INDArray y) {
        executioner.exec(new Sqrt(x, y));
    }

    void reciprocalRoot(INDArray x, INDArray y) {
        executioner.exec(new RSqrt(x, y));
    }

    /** {@code y = x (1 - x)}. */
    void timesOneMinus(INDArray x, INDArray y) {
        executioner.exec(new TimesOneMinus(x, y));
    }

    void softmax(INDArray x, INDArray y) {
        prepare("softmax", 1).run(x, y);
    }

    void rowMaximum(INDArray x, INDArray maximum) {
        prepare("reduce_max", 1).run(x, maximum);
    }

    /** {@code y[n] = table[rows[n]]}. */
    void gather(INDArray table, INDArray rows, INDArray y) {
        prepare("gather", 0).run(table, rows, y);
    }

    /** {@code table[rows[n]] += updates[n]} in the order of n. */
    void scatterAdd(INDArray table, INDArray rows, INDArray updates) {
        // The first flag makes one thread add all rows in order (on a GPU: one thread for each element).
        prepared.computeIfAbsent("scatter_add", name -> new Prepared(
                DynamicCustomOp.builder(name).addBooleanArguments(true, false).build()))
                .run(new INDArray[]{table, rows, updates}, new INDArray[]{table});
    }

    private Prepared custom(String name) {
        return prepared.computeIfAbsent(name, key -> new Prepared(DynamicCustomOp.builder(key).build()));
    }

    private Prepared prepare(String name, int argument) {
        return prepared.computeIfAbsent(name, key -> new Prepared(
                DynamicCustomOp.builder(key).addIntegerArguments(argument).build()));
    }
}
