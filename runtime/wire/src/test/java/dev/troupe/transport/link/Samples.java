package dev.troupe.transport.link;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKind;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.PendingTransfer;
import dev.troupe.transport.frame.FrameWriter;
import dev.troupe.wire.Window;
import io.aeron.Publication;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.agrona.concurrent.UnsafeBuffer;

/** Tensors, edges and frames for the tests of this package. */
public final class Samples {
    static final Engine ENGINE = new ReferenceEngine(DataType.FLOAT32);

    private Samples() {
    }

    static Edge edge(int fromRank, int toRank) {
        return new Edge(fromRank, toRank, toRank, MessageKind.ACTIVATION);
    }

    static MessageId id(Edge edge, int microbatch) {
        return new MessageId(0, 5, edge, microbatch);
    }

    /** An INT32 tensor, so that every bit counts, of random elements. */
    public static Tensor random(long seed, int... sizes) {
        Tensor tensor = zeros(sizes);
        byte[] bytes = randomBytes(new Random(seed), (int) tensor.byteCount());
        ENGINE.copyFromHost(MemorySegment.ofArray(bytes), tensor, 0);
        return tensor;
    }

    public static Tensor zeros(int... sizes) {
        return ENGINE.allocate(DataType.INT32, Shape.of(sizes));
    }

    public static byte[] bytes(Tensor tensor) {
        byte[] bytes = new byte[(int) tensor.byteCount()];
        ENGINE.copyToHost(tensor, 0, MemorySegment.ofArray(bytes));
        return bytes;
    }

    public static UnsafeBuffer buffer(int bytes) {
        return new UnsafeBuffer(ByteBuffer.allocateDirect(bytes));
    }

    /** Returns one fragment of a sender that sends microbatch after microbatch, in a buffer of exactly its length. */
    public static UnsafeBuffer fragment(MessageId id, Tensor tensor, long offset, int length) {
        return fragment(new FrameWriter(true), id, tensor, offset, length);
    }

    public static UnsafeBuffer fragment(FrameWriter writer, MessageId id, Tensor tensor, long offset, int length) {
        UnsafeBuffer buffer = buffer(FrameWriter.FRAGMENT_HEADER_BYTES + length);
        write(writer, buffer, id, id.microbatch(), tensor, offset, length);
        return buffer;
    }

    /** Writes a fragment with its payload. */
    static void write(FrameWriter writer, UnsafeBuffer buffer, MessageId id, int number, Tensor tensor, long offset,
            int length) {
        ENGINE.copyToHost(tensor, offset, MemorySegment.ofBuffer(buffer.byteBuffer())
                .asSlice(FrameWriter.FRAGMENT_HEADER_BYTES, length));
        writer.fragment(buffer, 0, id, number, tensor, offset, length);
    }

    public static UnsafeBuffer credit(int epoch, Edge edge, int count) {
        UnsafeBuffer buffer = buffer(FrameWriter.CREDIT_BYTES);
        new FrameWriter(true).credit(buffer, 0, epoch, edge, count);
        return buffer;
    }

    /** Makes the checksum right again after a test has changed a field, as a hostile sender would. */
    public static UnsafeBuffer resealed(UnsafeBuffer frame) {
        int start = FrameWriter.CHECKSUM_START;
        frame.putInt(4, new Window().checksum(frame, start, frame.capacity() - start));
        return frame;
    }

    /** The names of the transport's live threads; the threads of a media driver and its helpers included. */
    static List<String> transportThreads() {
        return Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
                .filter(name -> name.startsWith("troupe-transport") || name.startsWith("troupe-media-driver")).toList();
    }

    /** Waits until the last of them has ended. */
    static void awaitNoTransportThread() {
        await(() -> transportThreads().isEmpty(), () -> "still alive: " + transportThreads());
    }

    /** What a transport waits for. Its thread may have to be asked again: it answers within a second, or not. */
    static List<PendingTransfer> pending(LinkTransport transport) {
        AtomicReference<List<PendingTransfer>> answer = new AtomicReference<>();
        await(() -> {
            try {
                answer.set(transport.pending());
                return true;
            } catch (IllegalStateException late) {
                return false;
            }
        });
        return answer.get();
    }

    /** Waits for what another thread does. */
    static void await(BooleanSupplier condition) {
        await(condition, () -> "it has not come about within 30 seconds");
    }

    /** Waits for the work of another thread; a sentence names what is missing. */
    static void await(BooleanSupplier condition, Supplier<String> missing) {
        long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (!condition.getAsBoolean()) {
            assertTrue(deadline - System.nanoTime() > 0, missing);
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** The reference engine, but one of its methods throws. */
    static Engine failing(String method) {
        return before(method, () -> {
            throw new IllegalStateException("device lost");
        });
    }

    /** The reference engine, but one of its methods reports that it was entered, and waits. */
    static Engine waiting(String method, CompletableFuture<Void> entered, CompletableFuture<Void> leave) {
        return before(method, () -> {
            entered.complete(null);
            leave.join();
        });
    }

    /** A fence that a test opens, and for which nobody may wait. */
    static final class Gate implements Fence {
        volatile boolean isOpen;

        @Override
        public boolean isReached() {
            return isOpen;
        }

        @Override
        public void await() {
            throw new IllegalStateException("nobody may wait for it");
        }
    }

    /** The reference engine, but all it was asked is done when a gate opens. */
    static Engine behind(Gate gate) {
        return around((called, arguments) -> called.getName().equals("fence") ? gate : invoke(called, arguments));
    }

    /** The reference engine, but its tensors lie in the host's memory, all of them in this one. */
    static Engine in(MemorySegment memory) {
        return around((called, arguments) -> switch (called.getName()) {
            case "hostMemory" -> Optional.of(memory);
            case "toHost" -> throw new IllegalStateException("it need not be asked");
            default -> invoke(called, arguments);
        });
    }

    /** The reference engine on a device: it takes from an engine of that device, and counts bytes that go by the host. */
    static Engine on(int device, Map<Tensor, Integer> devices, AtomicLong byHost) {
        return around((called, arguments) -> switch (called.getName()) {
            case "computesLate" -> true;
            case "takeFrom" -> {
                if (devices.get((Tensor) arguments[0]) != device) {
                    yield Optional.empty();
                }
                MemorySegment bytes = MemorySegment.ofArray(new byte[Math.toIntExact((long) arguments[3])]);
                ENGINE.copyToHost((Tensor) arguments[0], (long) arguments[2], bytes);
                ENGINE.copyFromHost(bytes, (Tensor) arguments[1], (long) arguments[2]);
                yield Optional.of(Fence.REACHED);
            }
            case "toHost" -> {
                byHost.addAndGet(((MemorySegment) arguments[2]).byteSize());
                yield invoke(called, arguments);
            }
            case "fromHost" -> {
                byHost.addAndGet(((MemorySegment) arguments[0]).byteSize());
                yield invoke(called, arguments);
            }
            default -> invoke(called, arguments);
        });
    }

    /** The reference engine, but something is done before each call of one of its methods. */
    static Engine before(String method, Runnable action) {
        return around((called, arguments) -> {
            if (called.getName().equals(method)) {
                action.run();
            }
            return invoke(called, arguments);
        });
    }

    private interface Call {
        Object make(Method called, Object[] arguments) throws Throwable;
    }

    private static Engine around(Call call) {
        return (Engine) Proxy.newProxyInstance(Samples.class.getClassLoader(), new Class<?>[]{Engine.class},
                (proxy, called, arguments) -> call.make(called, arguments));
    }

    private static Object invoke(Method called, Object[] arguments) throws Throwable {
        try {
            return called.invoke(ENGINE, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    static byte[] randomBytes(Random random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    /** Writes bytes to a stream, as a stranger may. */
    static void offer(Publication publication, UnsafeBuffer bytes) {
        long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        while (publication.offer(bytes, 0, bytes.capacity()) < 0) {
            assertTrue(deadline - System.nanoTime() > 0, "the stream took nothing for 30 seconds");
            Thread.onSpinWait();
        }
    }
}
