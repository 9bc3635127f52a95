package dev.troupe.engine.cuda;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Fence;
import dev.troupe.engine.Fence.Instants;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cuda.device.Device;
import dev.troupe.engine.cuda.device.DeviceStream;
import dev.troupe.engine.cuda.device.SharedAllocation;
import dev.troupe.engine.digest.BitHash;
import dev.troupe.engine.fallback.FallbackEngine;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/** The part of the engine that treats a tensor as a flat array: memory, and elementwise kernels. */
abstract class FlatKernels implements FallbackEngine {
    private static final int SUM_THREADS = 256;
    private static final int ELEMENTS_OF_PART = 4096;
    private static final int MOST_PARTS = 1024;
    private static final int DROPOUT_THREADS = 128;
    private static final int DIGEST_THREADS = 128;
    private static final int DIGEST_PLACES = 16;

    private static final int MOST_MEMBERS = 8;

    final Launch launch;
    private final Launch reductions;
    final DeviceStream stream;
    /** For copies at fences, which wait for nothing else. */
    private final DeviceStream copies;
    private final CudaMemory memory;
    private final DataType computeType;
    private boolean isClosed;

    /** An engine without tensors, on its own stream. */
    FlatKernels(Device device, DataType computeType) {
        this.computeType = computeType;
        stream = device.openStream();
        copies = device.openStream();
        memory = new CudaMemory(device, stream);
        launch = new Launch(stream, computeType == DataType.BFLOAT16 ? "bf16" : "f32");
        reductions = new Launch(stream, "");
    }

    @Override
    public final DataType parameterType() {
        return DataType.FLOAT32;
    }

    @Override
    public final DataType computeType() {
        return computeType;
    }

    @Override
    public Tensor allocate(DataType dataType, Shape shape) {
        return memory.allocate(dataType, shape);
    }

    @Override
    public Tensor range(Tensor buffer, long first, Shape shape) {
        return new CudaTensor(CudaTensor.of(buffer), first, shape);
    }

    @Override
    public long allocatedBytes() {
        return memory.allocatedBytes();
    }

    @Override
    public void copyToHost(Tensor source, long byteOffset, MemorySegment target) {
        stream.toHost(CudaTensor.of(source).address() + byteOffset, target);
    }

    @Override
    public void copyFromHost(MemorySegment source, Tensor target, long byteOffset) {
        stream.fromHost(source, CudaTensor.of(target).address() + byteOffset);
    }

    @Override
    public boolean computesLate() {
        return true;
    }

    @Override
    public Fence fence() {
        return stream.fence();
    }

    @Override
    public Instants instants(int count) {
        return stream.instants(count);
    }

    /** Waits for the fence and for the copy, not for kernels that were launched after the fence. */
    @Override
    public Fence toHost(Tensor source, long byteOffset, MemorySegment target, Fence after) {
        after.await();
        copies.toHost(CudaTensor.of(source).address() + byteOffset, target);
        return Fence.REACHED;
    }

    @Override
    public Fence fromHost(MemorySegment source, Tensor target, long byteOffset, Fence after) {
        after.await();
        copies.fromHost(source, CudaTensor.of(target).address() + byteOffset);
        return copies.fence();
    }

    @Override
    public Optional<Fence> takeFrom(Tensor source, Tensor target, long byteOffset, long byteCount) {
        CudaTensor own = CudaTensor.of(target);
        if (!(source instanceof CudaTensor other) || !own.device().reaches(other.device())) {
            return Optional.empty();
        }
        copies.copy(other.address() + byteOffset, own.address() + byteOffset, byteCount);
        return Optional.of(copies.fence());
    }

    @Override
    public Optional<Shared> share(long byteCount) {
        return Optional.of(memory.device().share(byteCount));
    }

    @Override
    public Optional<Shared> openShared(byte[] handle) {
        return memory.device().openShared(handle).map(Shared.class::cast);
    }

    @Override
    public Optional<Fence> toShared(Tensor source, long byteOffset, long byteCount, Shared target, long targetOffset) {
        if (!(target instanceof SharedAllocation shared) || shared.device() != memory.device()) {
            return Optional.empty();
        }
        copies.copy(CudaTensor.of(source).address() + byteOffset, shared.address() + targetOffset, byteCount);
        return Optional.of(copies.fence());
    }

    @Override
    public Optional<Fence> fromShared(Shared source, long sourceOffset, Tensor target, long byteOffset,
            long byteCount) {
        if (!(source instanceof SharedAllocation shared) || shared.device() != memory.device()) {
            return Optional.empty();
        }
        copies.copy(shared.address() + sourceOffset, CudaTensor.of(target).address() + byteOffset, byteCount);
        return Optional.of(copies.fence());
    }

    @Override
    public void waitFor(Fence other) {
        stream.waitFor(other);
    }

    @Override
    public boolean reaches(List<Tensor> tensors) {
        return tensors.size() <= MOST_MEMBERS && tensors.stream()
                .allMatch(tensor -> tensor instanceof CudaTensor other && memory.device().reaches(other.device())
                        && (tensor.dataType() == DataType.FLOAT32 || tensor.dataType() == DataType.BFLOAT16));
    }

    /** Runs on any thread, and therefore with separate arguments. */
    @Override
    public void reduce(List<Tensor> sources, long sourceFirst, List<Tensor> targets, long targetFirst, long count,
            boolean largest) {
        DataType type = sources.getFirst().dataType();
        if (sources.size() == 1 && targets.size() == 1) {
            long from = address(sources, 0, sourceFirst);
            long to = address(targets, 0, targetFirst);
            if (from != to && count > 0) {
                stream.copy(from, to, count * type.elementBytes());
            }
            return;
        }
        synchronized (reductions) {
            reductions.of(type == DataType.BFLOAT16 ? "reduce_bf16" : "reduce_f32");
            for (int member = 0; member < MOST_MEMBERS; member++) {
                reductions.wide(address(sources, member, sourceFirst));
            }
            for (int member = 0; member < MOST_MEMBERS; member++) {
                reductions.wide(address(targets, member, targetFirst));
            }
            if (count > 0) {
                reductions.flag(largest).runFlat(count);
            }
        }
    }

    /** The address of an element of a tensor; 0 beyond the last tensor. */
    private static long address(List<Tensor> tensors, int index, long element) {
        return index < tensors.size()
                ? CudaTensor.of(tensors.get(index)).address() + element * tensors.get(index).dataType().elementBytes()
                : 0;
    }

    @Override
    public void fill(Tensor tensor, double value) {
        CudaTensor own = CudaTensor.of(tensor);
        stream.fill(own.address(), Float.floatToRawIntBits((float) value), own.elementCount());
    }

    @Override
    public void copy(Tensor source, Tensor target) {
        stream.copy(CudaTensor.of(source).address(), CudaTensor.of(target).address(), source.byteCount());
    }

    @Override
    public void cast(Tensor source, Tensor target) {
        if (source.dataType() == target.dataType()) {
            copy(source, target);
        } else {
            launch.of(target.dataType() == DataType.BFLOAT16 ? "narrow" : "widen").with(source).with(target)
                    .runFlat(source.shape().elementCount());
        }
    }

    @Override
    public void add(Tensor left, Tensor right, Tensor sum) {
        launch.of(sum.dataType() == DataType.BFLOAT16 ? "add_bf16" : "add_f32").with(left).with(right).with(sum)
                .runFlat(sum.shape().elementCount());
    }

    @Override
    public void scale(Tensor tensor, double factor) {
        launch.of("scale").with(tensor).real(factor).runFlat(tensor.shape().elementCount());
    }

    @Override
    public void sum(Tensor tensor, Tensor sums, int index) {
        add(tensor, false, sums, index);
    }

    @Override
    public void squaredSum(Tensor tensor, Tensor sums, int index) {
        add(tensor, true, sums, index);
    }

    /** Computes partial sums in blocks, and their total in one block. */
    private void add(Tensor tensor, boolean squares, Tensor sums, int index) {
        long count = tensor.shape().elementCount();
        int parts = (int) Math.min(MOST_PARTS, Math.ceilDiv(count, ELEMENTS_OF_PART));
        long partial = launch.scratch((long) MOST_PARTS * Double.BYTES);
        launch.of("partial_sums").with(tensor).flag(squares).wide(partial).wide(count).run(parts, SUM_THREADS);
        launch.of("total").wide(partial).integer(parts).with(sums, index).run(1, SUM_THREADS);
    }

    /** Computes the hashes of chunks in parallel, then their total. */
    @Override
    public void digest(Tensor tensor, Tensor digests, int index) {
        DataType type = tensor.dataType();
        long bytes = tensor.byteCount();
        long chunks = Math.ceilDiv(bytes, BitHash.CHUNK_BYTES);
        long hashes = launch.scratch(chunks * 2 * Long.BYTES);
        launch.of("digest_chunks").with(tensor).wide(bytes).wide(BitHash.exponents(type)).wide(BitHash.lowest(type))
                .wide(BitHash.signs(type)).wide(hashes)
                .run(Math.ceilDiv(chunks, DIGEST_THREADS / DIGEST_PLACES), DIGEST_THREADS);
        launch.of("digest_total").wide(hashes).wide(chunks).wide(bytes).with(digests, 2L * index).run(1, SUM_THREADS);
    }

    @Override
    public void gelu(Tensor preActivation, Tensor y) {
        launch.ofType("gelu").with(preActivation).with(y).runFlat(y.shape().elementCount());
    }

    @Override
    public void geluBackward(Tensor preActivation, Tensor dy, Tensor dx) {
        launch.ofType("gelu_backward").with(preActivation).with(dy).with(dx).runFlat(dx.shape().elementCount());
    }

    @Override
    public void swiGlu(Tensor gate, Tensor up, Tensor y) {
        launch.ofType("swiglu").with(gate).with(up).with(y).runFlat(y.shape().elementCount());
    }

    @Override
    public void swiGluBackward(Tensor gate, Tensor up, Tensor dy, Tensor dGate, Tensor dUp) {
        launch.ofType("swiglu_backward").with(gate).with(up).with(dy).with(dGate).with(dUp)
                .runFlat(dy.shape().elementCount());
    }

    @Override
    public void dropout(Tensor x, Dropout dropout, Tensor y) {
        Shape shape = x.shape();
        launch.ofType("dropout").with(x).with(y).wide(shape.size(1)).wide(dropout.firstRow()).wide(dropout.length())
                .wide(dropout.wholeLength()).wide(dropout.wholeColumns()).wide(dropout.firstColumn()).with(dropout)
                .run(shape.size(0), DROPOUT_THREADS);
    }

    @Override
    public void adamW(Tensor weights, Tensor gradients, Tensor firstMoment, Tensor secondMoment, AdamW update,
            Tensor operands) {
        double firstCorrection = 1 - StrictMath.pow(update.beta1(), update.step());
        double secondCorrection = 1 - StrictMath.pow(update.beta2(), update.step());
        launch.of("adamw").with(weights).with(gradients).with(firstMoment).with(secondMoment)
                .with(rounded(operands)).real(update.gradientScale()).real(1 - update.beta1()).real(update.beta2())
                .real(1 - update.beta2())
                .real(Math.sqrt(secondCorrection)).real(update.epsilon())
                .real(1 - update.learningRate() * update.weightDecay()).real(update.learningRate() / firstCorrection)
                .runFlat(weights.shape().elementCount());
        copyTo(operands, weights);
    }

    @Override
    public void sgd(Tensor weights, Tensor gradients, double learningRate, double weightDecay, double gradientScale,
            Tensor operands) {
        launch.of("sgd").with(weights).with(gradients).with(rounded(operands)).real(learningRate).real(weightDecay)
                .real(gradientScale).runFlat(weights.shape().elementCount());
        copyTo(operands, weights);
    }

    @Override
    public void sgdMomentum(Tensor weights, Tensor gradients, Tensor velocity, Momentum update, Tensor operands) {
        launch.of("sgd_momentum").with(weights).with(gradients).with(velocity).with(rounded(operands))
                .real(update.learningRate()).real(update.momentum()).flag(update.nesterov())
                .real(update.weightDecay()).real(update.gradientScale()).runFlat(weights.shape().elementCount());
        copyTo(operands, weights);
    }

    /** The operands of products that the kernels of updates write: only numbers of the narrow type. */
    private static Tensor rounded(Tensor operands) {
        return operands == null || operands.dataType() == DataType.FLOAT32 ? null : operands;
    }

    /** With one type, products read a copy. */
    private void copyTo(Tensor operands, Tensor weights) {
        if (operands != null && operands.dataType() == DataType.FLOAT32) {
            copy(weights, operands);
        }
    }

    @Override
    public void close() {
        memory.close();
        if (!isClosed) {
            isClosed = true;
            launch.close();
            reductions.close();
            copies.close();
            stream.close();
        }
    }
}
