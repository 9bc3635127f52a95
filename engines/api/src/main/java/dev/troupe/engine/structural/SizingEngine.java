package dev.troupe.engine.structural;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.TooManyElementsException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Stands in for an engine where only sizes count: its tensors have shapes and no memory, its kernels do nothing, and
 * {@link Engine#allocatedBytes} says what the other engine would have allocated, with the scratch memory of its products.
 * What no engine can allocate raises a {@link TooManyElementsException} here too.
 */
public final class SizingEngine {
    private final Engine model;
    private final AtomicLong allocatedBytes = new AtomicLong();
    /** The most of any product; kernels are one thread's. */
    private long scratchBytes;
    // Ranges that were the right side of a product, as they are and transposed.
    private final Set<Tensor> plain = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<Tensor> transposed = Collections.newSetFromMap(new IdentityHashMap<>());

    private SizingEngine(Engine model) {
        this.model = model;
    }

    /**
     * Makes one.
     *
     * @param model
     *            the engine whose sizes count; it stays the caller's, and open as long as this one is used
     */
    public static Engine like(Engine model) {
        // A proxy, not a class with a method for each kernel: a kernel that the contract gains does nothing here either.
        SizingEngine sizing = new SizingEngine(model);
        return (Engine) Proxy.newProxyInstance(Engine.class.getClassLoader(), new Class<?>[]{Engine.class},
                (_, method, arguments) -> sizing.call(method, arguments));
    }

    private Object call(Method method, Object[] arguments) throws Throwable {
        return switch (method.getName()) {
            case "allocate" -> allocate((DataType) arguments[0], (Shape) arguments[1]);
            case "range" -> new Range(((Tensor) arguments[0]).dataType(), (Shape) arguments[2]);
            case "matmul" -> multiply((Tensor) arguments[4], (Tensor) arguments[2], (boolean) arguments[3]);
            case "linear", "linearGelu" -> multiply((Tensor) arguments[3], (Tensor) arguments[1], false);
            case "allocatedBytes" -> allocatedBytes.get() + scratchBytes;
            case "computes" -> false;
            default -> {
                if (method.getReturnType() == void.class) {
                    yield null;
                }
                yield method.getReturnType() == double.class ? (Object) 0.0 : ofModel(method, arguments);
            }
        };
    }

    private Tensor allocate(DataType dataType, Shape shape) {
        TooManyElementsException.check(shape);
        return new Size(dataType, shape, allocatedBytes);
    }

    /** Counts what the engine would keep of a right side, and the scratch memory of the product. */
    private Object multiply(Tensor product, Tensor right, boolean isTransposed) {
        int m = product.shape().size(0);
        boolean isRange = right instanceof Range;
        if (isRange && (isTransposed ? transposed : plain).add(right)) {
            allocatedBytes.addAndGet(model.bytesKeptBeside(right.shape(), m));
        }
        scratchBytes = Math.max(scratchBytes, model.productScratchBytes(m, right.shape().size(isTransposed ? 1 : 0),
                product.shape().size(1), isRange, product.dataType()));
        return null;
    }

    private Object ofModel(Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(model, arguments);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
    }

    /** It has no bytes of its own. */
    private record Range(DataType dataType, Shape shape) implements Tensor {
        @Override
        public void close() {
            // The buffer is what is closed.
        }
    }

    private static final class Size implements Tensor {
        private final DataType dataType;
        private final Shape shape;
        private final AtomicLong allocatedBytes;
        private boolean closed;

        Size(DataType dataType, Shape shape, AtomicLong allocatedBytes) {
            this.dataType = dataType;
            this.shape = shape;
            this.allocatedBytes = allocatedBytes;
            allocatedBytes.addAndGet(byteCount());
        }

        @Override
        public DataType dataType() {
            return dataType;
        }

        @Override
        public Shape shape() {
            return shape;
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                allocatedBytes.addAndGet(-byteCount());
            }
        }
    }
}
