package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.OptimizerKernels.Momentum;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;

/** Kernels move 16 bytes at once if all operands are aligned, and leave the same bytes if one of them is not. */
@ExtendWith(DrawnOrders.class)
@Tag("parity")
class AlignmentTest {
    private static final int N = 3;
    private static final int C = 24;
    /** Elements before a range that is aligned to 16 bytes in every type, and before one that is in none. */
    private static final int ALIGNED = 8;
    private static final int ODD = 5;

    /** One call on tensors of these kinds: P products and T floats [N x C], F floats [C], N floats [N], I ids. */
    private record Call(String name, String operands, Kernel kernel) {
        @FunctionalInterface
        interface Kernel {
            void on(Engine engine, Tensor[] tensors);
        }
    }

    private static Stream<Call> calls() {
        AdamW adamW = new AdamW(0.1, 0.9, 0.99, 1e-8, 0.1, 2, 0.5);
        return Stream.of(
                new Call("add", "PPP", (engine, t) -> engine.add(t[0], t[1], t[2])),
                new Call("gelu", "PP", (engine, t) -> engine.gelu(t[0], t[1])),
                new Call("geluBackward", "PPP", (engine, t) -> engine.geluBackward(t[0], t[1], t[2])),
                new Call("swiGlu", "PPP", (engine, t) -> engine.swiGlu(t[0], t[1], t[2])),
                new Call("swiGluBackward", "PPPPP",
                        (engine, t) -> engine.swiGluBackward(t[0], t[1], t[2], t[3], t[4])),
                new Call("cast to products", "TP", (engine, t) -> engine.cast(t[0], t[1])),
                new Call("cast to floats", "PT", (engine, t) -> engine.cast(t[0], t[1])),
                new Call("scale", "T", (engine, t) -> engine.scale(t[0], 0.3)),
                new Call("adamW", "TTTTP", (engine, t) -> engine.adamW(t[0], t[1], t[2], t[3], adamW, t[4])),
                new Call("sgd", "TTP", (engine, t) -> engine.sgd(t[0], t[1], 0.1, 0.1, 0.5, t[2])),
                new Call("sgdMomentum", "TTTP",
                        (engine, t) -> engine.sgdMomentum(t[0], t[1], t[2], new Momentum(0.1, 0.9, true, 0.1, 0.5),
                                t[3])),
                new Call("layerNorm", "PPFFPNN",
                        (engine, t) -> engine.layerNorm(t[0], t[1], t[2], t[3], 1e-5, t[4], t[5], t[6])),
                new Call("layerNormBackward", "PPFNNPFF",
                        (engine, t) -> engine.layerNormBackward(t[0], t[1], t[2], t[3],
                                t[4], t[5], true, t[6], t[7])),
                new Call("rmsNorm", "PPFPN", (engine, t) -> engine.rmsNorm(t[0], t[1], t[2], 1e-5, t[3], t[4])),
                new Call("rmsNormBackward", "PPFNPF",
                        (engine, t) -> engine.rmsNormBackward(t[0], t[1], t[2], t[3], t[4], true, t[5])),
                new Call("biasBackward", "PF", (engine, t) -> engine.biasBackward(t[0], t[1])),
                new Call("embedding", "ITTP",
                        (engine, t) -> engine.embedding(t[0], t[1], t[2], N, t[3])),
                new Call("embeddingBackward", "IPTT", (engine, t) -> engine.embeddingBackward(t[0], t[1], N,
                        t[2], t[3])),
                new Call("crossEntropyBackward", "PINP",
                        (engine, t) -> engine.crossEntropyBackward(t[0], t[1], t[2], 0.5, t[3])),
                new Call("crossEntropyBoth", "PINN",
                        (engine, t) -> engine.crossEntropyBoth(t[0], t[1], 0.5, t[2], t[3])));
    }

    @TestFactory
    Stream<DynamicTest> shouldLeaveTheSameBytesIfOneOperandIsNotAligned() {
        return Stream.of(DataType.FLOAT32, DataType.BFLOAT16)
                .flatMap(type -> calls().map(call -> dynamicTest(call.name + " of " + type, () -> {
                    byte[][] expected = bytes(call, type, -1);
                    for (int odd = 0; odd < call.operands.length(); odd++) {
                        byte[][] found = bytes(call, type, odd);
                        for (int i = 0; i < found.length; i++) {
                            assertArrayEquals(expected[i], found[i], "operand " + i + " where " + odd + " is odd");
                        }
                    }
                })));
    }

    /** The contents of operands after the call, with one of them not aligned. */
    private static byte[][] bytes(Call call, DataType type, int odd) {
        Random random = new Random(7);
        try (Engine engine = Interpreted.engine(type)) {
            Tensor[] tensors = new Tensor[call.operands.length()];
            for (int i = 0; i < tensors.length; i++) {
                tensors[i] = tensor(engine, call.operands.charAt(i), i == odd ? ODD : ALIGNED, random);
            }
            call.kernel.on(engine, tensors);
            return Arrays.stream(tensors).map(tensor -> {
                byte[] bytes = new byte[(int) tensor.byteCount()];
                engine.copyToHost(tensor, 0, MemorySegment.ofArray(bytes));
                return bytes;
            }).toArray(byte[][]::new);
        }
    }

    private static Tensor tensor(Engine engine, char kind, int first, Random random) {
        if (kind == 'I') {
            Tensor ids = engine.allocate(DataType.INT32, Shape.of(N));
            engine.copyFromHost(MemorySegment.ofArray(new int[]{2, 0, 2}), ids, 0);
            return ids;
        }
        Shape shape = switch (kind) {
            case 'P', 'T' -> Shape.of(N, C);
            case 'F' -> Shape.of(C);
            default -> Shape.of(N);
        };
        int count = (int) shape.elementCount();
        float[] numbers = new float[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = Math.abs((float) random.nextGaussian());
        }
        Tensor floats = engine.range(engine.allocate(DataType.FLOAT32, Shape.of(count + ALIGNED)), first, shape);
        engine.copyFromHost(MemorySegment.ofArray(numbers), floats, 0);
        if (kind != 'P' || engine.computeType() == DataType.FLOAT32) {
            return floats;
        }
        Tensor products = engine.range(engine.allocate(DataType.BFLOAT16, Shape.of(count + ALIGNED)), first, shape);
        engine.cast(floats, products);
        return products;
    }
}
