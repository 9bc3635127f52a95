package dev.troupe.engine.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.OptimizerKernels.Momentum;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The conformance tests of refusals, with the messages of the checks of operands. */
abstract class RefusalConformance extends RangeConformance {
    @Test
    final void shouldNameTheOperandThatDoesNotFit() {
        Engine engine = engine();
        DataType type = engine.computeType();
        Tensor x = products(2, 3);
        Tensor weight = products(4, 5);
        Tensor bias = floats(5);
        Tensor y = products(2, 5);
        refused("linear: weight must have 3 rows, the columns of x, but is " + type + " [4 x 5]",
                () -> engine.linear(x, weight, false, bias, y));
        refused("linear: bias must be " + engine.parameterType() + " [4], but is " + engine.parameterType() + " [5]",
                () -> engine.linear(x, products(3, 4), false, bias, products(2, 4)));
        refused("matmul: product must be " + type + " [3 x 3], but is " + type + " [2 x 5]",
                () -> engine.matmul(x, true, x, false, y, false));
        refused("matmul: right must have 2 rows, but is " + type + " [4 x 5]",
                () -> engine.matmul(x, true, weight, false, y, false));
        refused("biasBackward: dy must be of " + type + ", but is INT32 [3]",
                () -> engine.biasBackward(ints(1, 2, 3), bias));
        refused("embedding: 2 rows are not whole sequences of length 3",
                () -> engine.embedding(ints(1, 2), floats(4, 5), floats(4, 5), 3, y));
        refused("embedding: positionTable must be [at least 2 x 5], but is " + engine.parameterType() + " [1 x 5]",
                () -> engine.embedding(ints(1, 2), floats(4, 5), floats(1, 5), 2, y));
        refused("causalAttention: the hidden size must be a multiple of 2 heads, but is " + type + " [2 x 5]",
                () -> engine.causalAttention(x, 2, 2, floats(2, 2), y));
        refused("cachedAttention: keys must be [at least 3 x 2], but is " + type + " [2 x 2]",
                () -> engine.cachedAttention(products(1, 4), products(2, 2), products(2, 2), 3, 2, 1, products(1, 4)));
        refused("cachedAttention: 2 rows of queries need at least as many places, but the length is 1",
                () -> engine.cachedAttention(products(2, 4), products(2, 2), products(2, 2), 1, 2, 1, products(2, 4)));
        refused("copyToHost: 8 bytes from byte " + bias.byteCount() + " do not lie in a tensor of " + bias.byteCount()
                + " bytes (" + engine.parameterType() + " [5])",
                () -> engine.copyToHost(bias, bias.byteCount(), MemorySegment.ofArray(new byte[8])));
        refused("copyFromHost: 2 bytes from byte 0 cut an element; both must be multiples of the "
                + engine.parameterType().elementBytes() + " bytes of " + engine.parameterType(),
                () -> engine.copyFromHost(MemorySegment.ofArray(new byte[2]), bias, 0));
    }

    @Test
    final void shouldRefuseSharedOperandsUnlessTheContractAllowsThem() {
        Engine engine = engine();
        Tensor square = products(3, 3);
        Tensor other = products(3, 3);
        Tensor vector = floats(3);
        refused("matmul: product is written and must be a tensor of its own, but is given twice",
                () -> engine.matmul(square, false, square, false, square, false));
        refused("linear: y is written and must be a tensor of its own, but is given twice",
                () -> engine.linear(square, other, false, vector, square));
        refused("layerNorm: y is written and must be a tensor of its own, but is given twice",
                () -> engine.layerNorm(null, square, vector, floats(3), 1e-5, square, floats(3), floats(3)));
        refused("layerNormBackwardInput: dx is written and must be a tensor of its own, but is given twice",
                () -> engine.layerNormBackwardInput(square, other, vector, floats(3), floats(3), square, true));
        refused("geluBackward: dx is written and must be a tensor of its own, but is given twice",
                () -> engine.geluBackward(square, other, square));
        refused("sgd: weights is written and must be a tensor of its own, but is given twice",
                () -> engine.sgd(vector, vector, 0.1, 0, 1));
        refused("sgdMomentum: velocity is written and must be a tensor of its own, but is given twice",
                () -> engine.sgdMomentum(floats(3), vector, vector, new Momentum(0.1, 0.9, true, 0, 1)));
        if (engine.computeType() == engine.parameterType()) {
            refused("sgd: operands is written and must be a tensor of its own, but is given twice",
                    () -> engine.sgd(vector, floats(3), 0.1, 0, 1, vector));
        }
        Tensor buffer = floats(5);
        refused("sgd: weights is written and must be a tensor of its own, but is given twice",
                () -> engine.sgd(engine.range(buffer, 0, Shape.of(3)), engine.range(buffer, 2, Shape.of(3)), 0.1, 0,
                        1));
    }

    @Test
    final void shouldRefuseIdsOutsideTheTable() {
        Engine engine = engine();
        Tensor table = floats(5, 3);
        Tensor y = products(2, 3);
        for (int wrong : new int[]{5, -2}) {
            refused("embedding: tokens[1] is " + wrong + ", but must be from 0 to 4, or -1 for elsewhere",
                    () -> engine.embedding(ints(0, wrong), table, null, 2, y));
            refused("embeddingBackward: tokens[0] is " + wrong + ", but must be from 0 to 4, or -1 for elsewhere",
                    () -> engine.embeddingBackward(ints(wrong, 0), y, 2, table, floats(2, 3)));
        }
        refused("crossEntropy: targets[1] is 3, but must be from 0 to 2, or -1 for elsewhere, or -2 for none",
                () -> engine.crossEntropy(y, ints(0, 3), floats(2), floats(2)));
    }

    @Test
    final void shouldRefuseClosedAndForeignTensors() {
        Engine engine = engine();
        Tensor closed = floats(3);
        closed.close();
        assertEquals("fill: tensor, " + closed.dataType() + " [3], is used after it was closed",
                assertThrows(IllegalStateException.class, () -> engine.fill(closed, 1)).getMessage());
        assertThrows(IllegalStateException.class,
                () -> engine.copyToHost(closed, 0, MemorySegment.ofArray(new byte[8])));
        Engine other = open(1);
        try (other) {
            Tensor foreign = other.allocate(other.parameterType(), Shape.of(3));
            refused("fill: tensor must be a tensor of this engine, but is another's", () -> engine.fill(foreign, 1));
            refused("fill: tensor must be a tensor of this engine, but is null", () -> engine.fill(null, 1));
        }
        assertThrows(IllegalStateException.class, () -> other.allocate(other.parameterType(), Shape.of(3)));
    }

    private Tensor floats(int... sizes) {
        return engine().allocate(engine().parameterType(), Shape.of(sizes));
    }

    private Tensor products(int... sizes) {
        return engine().allocate(engine().computeType(), Shape.of(sizes));
    }

    private Tensor ints(int... numbers) {
        Tensor tensor = engine().allocate(DataType.INT32, Shape.of(numbers.length));
        engine().copyFromHost(MemorySegment.ofArray(numbers), tensor, 0);
        return tensor;
    }

    private static void refused(String sentence, Executable call) {
        assertEquals(sentence, assertThrows(IllegalArgumentException.class, call).getMessage());
    }
}
