package dev.troupe.engine.fallback;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.digest.TensorDigest;
import dev.troupe.engine.fallback.loop.Elements;
import dev.troupe.engine.fallback.loop.Gelu;
import dev.troupe.engine.fallback.loop.SwiGlu;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** Definitions of kernels that take elements one by one, and of sums over all elements. */
interface FallbackElementwise extends Fallback {
    @Override
    default void fill(Tensor tensor, double value) {
        fallBack(Kernel.FILL, host -> Arrays.fill(host.output(tensor), value));
    }

    @Override
    default void copy(Tensor source, Tensor target) {
        fallBack(Kernel.COPY, _ -> {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment bytes = arena.allocate(source.byteCount(), Long.BYTES);
                copyToHost(source, 0, bytes);
                copyFromHost(bytes, target, 0);
            }
        });
    }

    @Override
    default void cast(Tensor source, Tensor target) {
        if (source.dataType() == target.dataType()) {
            copy(source, target);
            return;
        }
        fallBack(Kernel.CAST, host -> {
            double[] numbers = host.read(source);
            System.arraycopy(numbers, 0, host.output(target), 0, numbers.length);
        });
    }

    @Override
    default void add(Tensor left, Tensor right, Tensor sum) {
        fallBack(Kernel.ADD, host -> Elements.add(host.read(left), host.read(right), host.output(sum)));
    }

    @Override
    default void scale(Tensor tensor, double factor) {
        fallBack(Kernel.SCALE, host -> Elements.scale(host.changed(tensor), factor));
    }

    @Override
    default void sum(Tensor tensor, Tensor sums, int index) {
        fallBack(Kernel.SUM, host -> host.changed(sums)[index] = Elements.sum(host.read(tensor)));
    }

    @Override
    default void squaredSum(Tensor tensor, Tensor sums, int index) {
        fallBack(Kernel.SQUARED_SUM, host -> host.changed(sums)[index] = Elements.squaredSum(host.read(tensor)));
    }

    @Override
    default void digest(Tensor tensor, Tensor digests, int index) {
        fallBack(Kernel.DIGEST, _ -> new TensorDigest(this).write(tensor, digests, index));
    }

    @Override
    default void gelu(Tensor preActivation, Tensor y) {
        fallBack(Kernel.GELU, host -> Gelu.forward(host.read(preActivation), host.output(y)));
    }

    @Override
    default void geluBackward(Tensor preActivation, Tensor dy, Tensor dx) {
        fallBack(Kernel.GELU_BACKWARD,
                host -> Gelu.backward(host.read(preActivation), host.read(dy), host.output(dx)));
    }

    @Override
    default void swiGlu(Tensor gate, Tensor up, Tensor y) {
        fallBack(Kernel.SWI_GLU, host -> SwiGlu.forward(host.read(gate), host.read(up), host.output(y)));
    }

    @Override
    default void swiGluBackward(Tensor gate, Tensor up, Tensor dy, Tensor dGate, Tensor dUp) {
        fallBack(Kernel.SWI_GLU_BACKWARD, host -> SwiGlu.backward(host.read(gate), host.read(up), host.read(dy),
                host.output(dGate), host.output(dUp)));
    }

    @Override
    default void dropout(Tensor x, Dropout dropout, Tensor y) {
        fallBack(Kernel.DROPOUT,
                host -> Elements.dropOut(host.read(x), x.shape().size(1), dropout, host.output(y)));
    }
}
