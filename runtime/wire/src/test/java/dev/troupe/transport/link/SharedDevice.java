package dev.troupe.transport.link;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.engine.Memory;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.late.LateEngine;
import dev.troupe.engine.reference.ReferenceEngine;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A rank's engine on a device that all processes of the machine share. It computes late, in a drawn order; it counts what
 * goes by way of the host, and a test can hold its copies of shared memory.
 */
final class SharedDevice implements InvocationHandler {
    private final Engine late;
    private final Engine engine = (Engine) Proxy.newProxyInstance(SharedDevice.class.getClassLoader(),
            new Class<?>[]{Engine.class}, this);
    /** Bytes that were copied to the host or from it at fences. */
    final AtomicLong byHost = new AtomicLong();
    final AtomicInteger toShared = new AtomicInteger();
    final AtomicInteger fromShared = new AtomicInteger();
    /** Shared memory that this process has made or opened, and not closed. */
    final AtomicInteger open = new AtomicInteger();
    /** Copies of shared memory for which somebody has waited. */
    final AtomicInteger awaited = new AtomicInteger();
    /** No copy of shared memory is reached as long as this holds. */
    volatile boolean isHeld;
    /** What the next copies of shared memory end with; null for success. */
    volatile RuntimeException failure;
    /** The number of the copy from shared memory, from 0, that alone fails. */
    volatile int failingRead = -1;
    /** The error of the device when memory is to be shared or opened; null if it works. */
    volatile RuntimeException refusal;
    /** The copy to shared memory after which this process copies half a piece and no more. */
    volatile int lastWhole = Integer.MAX_VALUE;

    private SharedDevice(Engine late) {
        this.late = late;
    }

    /** Of an order that is drawn from a seed. */
    static SharedDevice of(long seed) {
        for (long drawn = seed;; drawn += 1_000_003) { // some late engines have the host's memory
            Engine late = LateEngine.over(new ReferenceEngine(DataType.FLOAT32), drawn);
            Optional<Memory.Shared> shares = late.share(64);
            if (shares.isPresent()) {
                shares.get().close();
                return new SharedDevice(late);
            }
            late.close();
        }
    }

    Engine engine() {
        return engine;
    }

    Tensor zeros(int elements) {
        return late.allocate(DataType.INT32, Shape.of(elements));
    }

    Tensor random(long seed, int elements) {
        Tensor tensor = zeros(elements);
        late.copyFromHost(MemorySegment.ofArray(randomBytes(seed, elements)), tensor, 0);
        return tensor;
    }

    static byte[] randomBytes(long seed, int elements) {
        byte[] bytes = new byte[elements * Integer.BYTES];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    byte[] bytes(Tensor tensor) {
        byte[] bytes = new byte[(int) tensor.byteCount()];
        late.copyToHost(tensor, 0, MemorySegment.ofArray(bytes));
        return bytes;
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        return switch (method.getName()) {
            case "toHost" -> {
                byHost.addAndGet(((MemorySegment) arguments[2]).byteSize());
                yield call(method, arguments);
            }
            case "fromHost" -> {
                byHost.addAndGet(((MemorySegment) arguments[0]).byteSize());
                yield call(method, arguments);
            }
            case "share", "openShared" -> {
                if (refusal != null) {
                    throw refusal;
                }
                yield ((Optional<?>) call(method, arguments)).map(made -> new Counted((Memory.Shared) made));
            }
            case "toShared" -> {
                boolean isHalf = toShared.get() >= lastWhole;
                Fence copied = late.toShared((Tensor) arguments[0], (long) arguments[1],
                        (long) arguments[2] / (isHalf ? 2 : 1), ((Counted) arguments[3]).shared, (long) arguments[4])
                        .orElseThrow();
                if (isHalf) {
                    copied.await();
                }
                toShared.incrementAndGet();
                yield Optional.of(new Held(copied, isHalf, false));
            }
            case "fromShared" -> {
                Fence copied = late.fromShared(((Counted) arguments[0]).shared, (long) arguments[1],
                        (Tensor) arguments[2], (long) arguments[3], (long) arguments[4]).orElseThrow();
                yield Optional.of(new Held(copied, false, fromShared.getAndIncrement() == failingRead));
            }
            default -> call(method, arguments);
        };
    }

    private Object call(Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(late, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private final class Counted implements Memory.Shared {
        private final Memory.Shared shared;

        Counted(Memory.Shared shared) {
            this.shared = shared;
            open.incrementAndGet();
        }

        @Override
        public long byteCount() {
            return shared.byteCount();
        }

        @Override
        public byte[] handle() {
            return shared.handle();
        }

        @Override
        public void close() {
            shared.close();
            open.decrementAndGet();
        }
    }

    private final class Held implements Fence {
        private final Fence copied;
        private final boolean isForEver;
        private final boolean fails;

        Held(Fence copied, boolean isForEver, boolean fails) {
            this.copied = copied;
            this.isForEver = isForEver;
            this.fails = fails;
        }

        @Override
        public boolean isReached() {
            if (isHeld || isForEver) {
                return false;
            }
            if (failure != null) {
                throw failure;
            }
            if (fails) {
                throw new IllegalStateException("out of order");
            }
            return copied.isReached();
        }

        @Override
        public void await() {
            copied.await();
            awaited.incrementAndGet();
        }
    }
}
