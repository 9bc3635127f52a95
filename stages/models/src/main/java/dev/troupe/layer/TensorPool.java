package dev.troupe.layer;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Tensors that are used again and again, by type and shape, so that a steady state allocates nothing.
 *
 * <p>Thread rule: {@link #take} and {@link #close} on the thread that computes, {@link #give} on any.
 */
public final class TensorPool implements AutoCloseable {
    private final Engine engine;
    // Guarded by this. Every tensor is in exactly one of the two, so a second give is seen.
    private final Map<DataType, Map<Shape, ArrayDeque<Tensor>>> idle = new EnumMap<>(DataType.class);
    private final Set<Tensor> taken = Collections.newSetFromMap(new IdentityHashMap<>());

    public TensorPool(Engine engine) {
        this.engine = engine;
        for (DataType dataType : DataType.values()) {
            idle.put(dataType, new HashMap<>());
        }
    }

    /** A tensor of the engine's product type, as activations are, with any content; the caller gives it back. */
    public Tensor take(Shape shape) {
        return take(engine.computeType(), shape);
    }

    /** A tensor of the engine's float type with any content; the caller gives it back. */
    public Tensor takeFloats(Shape shape) {
        return take(engine.parameterType(), shape);
    }

    /** A tensor with any content; the caller gives it back. */
    public synchronized Tensor take(DataType dataType, Shape shape) {
        ArrayDeque<Tensor> shelf = idle.get(dataType).get(shape);
        Tensor tensor = shelf == null || shelf.isEmpty() ? engine.allocate(dataType, shape) : shelf.pop();
        taken.add(tensor);
        return tensor;
    }

    /**
     * Takes a tensor back; the last one given is the next one taken.
     *
     * @throws IllegalArgumentException
     *             where the tensor is not one that was taken here and not yet given back
     */
    public synchronized void give(Tensor tensor) {
        if (!taken.remove(tensor)) {
            throw new IllegalArgumentException(
                    "a tensor of shape " + tensor.shape() + " was given to a pool that it was"
                            + " not taken from, or a second time: give each tensor once, to the stage it came from");
        }
        idle.get(tensor.dataType()).computeIfAbsent(tensor.shape(), shape -> new ArrayDeque<>()).push(tensor);
    }

    /** Gives a tensor back where there is one; returns null, for the field that held it. */
    public Tensor drop(Tensor tensor) {
        if (tensor != null) {
            give(tensor);
        }
        return null;
    }

    /** Closes every tensor, those that are still taken too. */
    @Override
    public synchronized void close() {
        taken.forEach(Tensor::close);
        taken.clear();
        for (Map<Shape, ArrayDeque<Tensor>> shelves : idle.values()) {
            shelves.values().forEach(shelf -> shelf.forEach(Tensor::close));
            shelves.clear();
        }
    }
}
