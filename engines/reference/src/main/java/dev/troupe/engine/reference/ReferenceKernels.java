package dev.troupe.engine.reference;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.digest.TensorDigest;
import dev.troupe.engine.fallback.FallbackEngine;
import dev.troupe.engine.fallback.HostOperands;
import dev.troupe.engine.provider.EngineSettings;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The reference engine without checks: memory on the Java heap, and the definition of every kernel on its own arrays. */
final class ReferenceKernels implements FallbackEngine {
    private final DataType parameterType;
    private final DataType computeType;
    private final ReferenceMemory memory = new ReferenceMemory();
    private final TensorDigest digest = new TensorDigest(this);

    ReferenceKernels(EngineSettings settings) {
        this.parameterType = settings.parameterType();
        this.computeType = settings.computeType();
    }

    @Override
    public String kind() {
        return ReferenceEngine.KIND;
    }

    @Override
    public DataType parameterType() {
        return parameterType;
    }

    @Override
    public DataType computeType() {
        return computeType;
    }

    @Override
    public Tensor allocate(DataType dataType, Shape shape) {
        return memory.allocate(dataType, shape);
    }

    @Override
    public Tensor range(Tensor buffer, long first, Shape shape) {
        return new ReferenceTensor((ReferenceTensor) buffer, first, shape);
    }

    @Override
    public long allocatedBytes() {
        return memory.allocatedBytes();
    }

    @Override
    public void copyToHost(Tensor source, long byteOffset, MemorySegment target) {
        ((ReferenceTensor) source).copyTo(byteOffset, target);
    }

    @Override
    public void copyFromHost(MemorySegment source, Tensor target, long byteOffset) {
        ((ReferenceTensor) target).copyFrom(source, byteOffset);
    }

    @Override
    public void digest(Tensor tensor, Tensor digests, int index) {
        digest.write(tensor, digests, index);
    }

    @Override
    public void fallBack(Kernel kernel, Consumer<HostOperands> definition) {
        OwnArrays operands = new OwnArrays();
        definition.accept(operands);
        operands.store();
    }

    /** The arrays of this engine's tensors themselves. */
    private static final class OwnArrays implements HostOperands {
        private final List<ReferenceTensor> written = new ArrayList<>();

        @Override
        public double[] read(Tensor input) {
            return ReferenceTensor.of(input).floats();
        }

        @Override
        public int[] ids(Tensor input) {
            return ReferenceTensor.of(input).ints();
        }

        @Override
        public double[] output(Tensor output) {
            return changed(output);
        }

        @Override
        public int[] idsOutput(Tensor output) {
            ReferenceTensor own = ReferenceTensor.of(output);
            written.add(own);
            return own.ints();
        }

        @Override
        public double[] changed(Tensor output) {
            ReferenceTensor own = ReferenceTensor.of(output);
            written.add(own);
            return own.floats();
        }

        @Override
        public void store() {
            written.forEach(ReferenceTensor::settle);
            written.clear();
        }
    }

    @Override
    public void close() {
        memory.close();
    }
}
