package dev.troupe.stage;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.fallback.HostNumbers;
import dev.troupe.layer.ExpertLoads;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.ResidualStream;
import dev.troupe.layer.TensorPool;
import dev.troupe.model.spec.Balance;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;

/**
 * The loads of experts at the borders of a stage. They travel in further rows of an activation, and their gradient in rows
 * of its gradient. Each of the eight bytes of a number is an element there, since every type has the numbers from 0 to
 * 255. A model without experts has no such rows.
 *
 * <p>Thread rule: as for kernels.
 */
final class LoadCarrier {
    private static final int BYTE = 0xFF;

    private final Engine engine;
    private final TensorPool pool;
    private final Optional<Balance> balance;
    private final int microbatchSize;
    private final int microbatchesPerStep;
    /** Only one rank of a group adds the gradient, which is summed over the group. */
    private final boolean addsGradient;
    private final TensorPool.Extent stream;
    private final TensorPool.Extent boundary;
    private final double[] elements;
    /** The layers of this stage with experts. */
    private final int ownLayers;

    LoadCarrier(LayerContext context, Optional<Balance> balance, int ownLayers) {
        this.engine = context.engine();
        this.pool = context.pool();
        this.balance = balance;
        this.microbatchSize = context.microbatchSize();
        this.microbatchesPerStep = context.microbatchesPerStep();
        this.addsGradient = context.share().group().rank() == 0
                && balance.filter(one -> one.training().auxiliaryLoss() > 0 || one.training().routerZLoss() > 0)
                        .isPresent();
        this.ownLayers = ownLayers;
        this.stream = new ResidualStream(context).extent();
        int rows = balance.map(one -> one.boundaryRows(context.hidden())).orElse(0);
        this.boundary = rows == 0 ? stream : stream.with(rows);
        this.elements = new double[rows * context.hidden()];
    }

    /** Returns the shapes of every tensor from or to a neighbour. */
    TensorPool.Extent boundary() {
        return boundary;
    }

    /** Returns the length of a microbatch's sequences by the rows of a boundary tensor. */
    int lengthOf(int rows) {
        return stream.lengthOf(rows - (boundary.whole().size(0) - stream.whole().size(0)));
    }

    /**
     * Returns the loads of the layers before this stage; null if there are no experts.
     *
     * @param input the activation of the stage before; null on the first stage
     */
    ExpertLoads begin(Tensor input) {
        if (balance.isEmpty()) {
            return null;
        }
        Tensor layers = null;
        if (ownLayers > 0) {
            layers = pool.takeFloats(Shape.of(ownLayers * ExpertLoads.numbersOf(balance.get().experts())));
            engine.fill(layers, 0);
        }
        return new ExpertLoads(engine, layers, balance.get().experts(),
                input == null ? new double[balance.get().sumCount()] : read(input));
    }

    /** Measures the loads after the forward of the last stage, and the gradient of their losses times a factor. */
    Balance.Measure end(ExpertLoads loads, int length, double factor) {
        double[] sums = sums(loads);
        int rows = microbatchSize * length;
        loads.setGradient(balance.orElseThrow().gradient(sums, rows, factor / microbatchesPerStep));
        return balance.get().measure(sums, rows);
    }

    /**
     * Gives the gradient of the losses of routers to the layers.
     *
     * @param outputGradient the gradient of the stage after; null on the last stage
     */
    void beginBackward(ExpertLoads loads, Tensor outputGradient) {
        if (outputGradient != null) {
            loads.setGradient(read(outputGradient));
        }
        if (addsGradient) {
            int experts = balance.orElseThrow().experts();
            Tensor gradient = null;
            if (balance.get().training().auxiliaryLoss() > 0) {
                gradient = pool.takeFloats(Shape.of(experts));
                write(loads.gradient(), gradient);
            }
            // A warm-up brings any numbers, and layers without a z-loss keep no logits.
            loads.setLayerGradients(gradient,
                    balance.get().training().routerZLoss() > 0 ? loads.gradient()[experts] : 0);
        }
    }

    /** Returns a boundary tensor without the rows for loads, in the same memory; null for null. */
    Tensor without(Tensor tensor, int length) {
        return tensor == null || balance.isEmpty() ? tensor : pool.reshape(tensor, stream.of(length));
    }

    /** Returns an activation with the loads after it; takes it over. Null for null; loads that are not counted are 0. */
    Tensor withLoads(Tensor activation, int length, ExpertLoads loads) {
        return activation == null || balance.isEmpty()
                ? activation
                : with(activation, length, loads == null ? new double[0] : sums(loads));
    }

    /** Returns the gradient of an activation with the gradient of the loads after it; takes it over. Null for null. */
    Tensor withGradient(Tensor gradient, int length, ExpertLoads loads) {
        return gradient == null || balance.isEmpty() ? gradient : with(gradient, length, loads.gradient());
    }

    private Tensor with(Tensor tensor, int length, double[] numbers) {
        Tensor rows = pool.reshape(pool.take(boundary, length), stream.of(length));
        engine.copy(tensor, rows);
        pool.give(tensor);
        Tensor whole = pool.reshape(rows, boundary.of(length));
        ByteBuffer bytes = ByteBuffer.allocate(elements.length);
        bytes.asDoubleBuffer().put(numbers);
        for (int i = 0; i < elements.length; i++) {
            elements[i] = bytes.get(i) & BYTE;
        }
        MemorySegment host = hostMemory(whole.dataType(), elements.length);
        HostNumbers.store(whole.dataType(), elements, 0, host);
        engine.copyFromHost(host, whole, whole.byteCount() - host.byteSize());
        return whole;
    }

    /** Returns the numbers after the rows of a boundary tensor. */
    private double[] read(Tensor tensor) {
        MemorySegment host = hostMemory(tensor.dataType(), elements.length);
        engine.copyToHost(tensor, tensor.byteCount() - host.byteSize(), host);
        HostNumbers.load(tensor.dataType(), host, elements, 0);
        ByteBuffer bytes = ByteBuffer.allocate(elements.length);
        for (int i = 0; i < elements.length; i++) {
            bytes.put(i, (byte) elements[i]);
        }
        double[] numbers = new double[balance.orElseThrow().sumCount()];
        bytes.asDoubleBuffer().get(numbers);
        return numbers;
    }

    /** Returns the sums with the layers of this stage. Waits for the engine. */
    private double[] sums(ExpertLoads loads) {
        double[] sums = loads.before().clone();
        if (loads.layers() != null) {
            DataType type = engine.parameterType();
            double[] numbers = new double[(int) loads.layers().shape().elementCount()];
            MemorySegment host = hostMemory(type, numbers.length);
            engine.copyToHost(loads.layers(), 0, host);
            HostNumbers.load(type, host, numbers, 0);
            int count = numbers.length / ownLayers;
            for (int layer = 0; layer < ownLayers; layer++) {
                balance.orElseThrow().add(Arrays.copyOfRange(numbers, layer * count, (layer + 1) * count), sums);
            }
        }
        return sums;
    }

    /** Writes as many numbers as a float tensor has. */
    private void write(double[] numbers, Tensor tensor) {
        MemorySegment host = hostMemory(tensor.dataType(), (int) tensor.shape().elementCount());
        HostNumbers.store(tensor.dataType(), numbers, 0, host);
        engine.copyFromHost(host, tensor, 0);
    }

    private static MemorySegment hostMemory(DataType type, int count) {
        return MemorySegment.ofArray(new byte[count * type.elementBytes()]);
    }
}
