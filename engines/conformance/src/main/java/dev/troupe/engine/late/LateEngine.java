package dev.troupe.engine.late;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;

/**
 * An engine that passes calls to another engine as late as its fences allow, and copies at fences in a random order. A
 * caller that reads, writes or closes a tensor too early gets other bits than from the other engine.
 *
 * <p>A new tensor is NaN until its zeros have been written, in the order of the calls. Three errors of a caller raise an
 * exception with the tensor's name: to copy a tensor at a fence while other work uses it, to change a tensor during its
 * copy, and to use a closed tensor.
 *
 * <p>The seed also selects the kind of device. One kind shares the host's memory, so it has {@link Engine#hostMemory} if the
 * other engine has. The other kind has none; it copies from tensors of other late engines, and shares memory with late
 * engines of other processes, as engines on one device do.
 *
 * <p>Thread rule: as of {@link Engine}.
 */
public final class LateEngine implements WrappedEngine.Around {
    private static final int CHUNK_BYTES = 1 << 16;

    private final Engine engine;
    private final LateWork work;
    private final boolean sharesMemory;
    /** The end of the last copy of shared memory, after which the next begins. */
    private Fence lastOfShared = Fence.REACHED;

    private LateEngine(Engine engine, Random random) {
        this.engine = engine;
        this.work = new LateWork(random);
        this.sharesMemory = random.nextBoolean();
    }

    /**
     * Returns a late engine without checks of operands.
     *
     * @param engine does the work, and holds values; nobody else may call it, and it is closed with the late engine
     */
    public static Engine over(Engine engine, long seed) {
        return WrappedEngine.of(new LateEngine(engine, new Random(seed)));
    }

    @Override
    public Object call(Method method, Object[] given) throws Throwable {
        Object[] args = given == null ? new Object[0] : given;
        return switch (method.getName()) {
            case "computesLate" -> true;
            case "fence" -> work.fence();
            case "waitFor" -> {
                ((Fence) args[0]).await();
                yield null;
            }
            case "instants" -> work.instants((int) args[0]);
            case "allocate" -> allocate((DataType) args[0], (Shape) args[1]);
            case "range" -> range(method, args, (long) args[1], (Shape) args[2]);
            case "beginning" -> range(method, args, 0, (Shape) args[1]);
            case "hostMemory" -> hostMemory((LateTensor) args[0]);
            case "copyToHost" -> {
                requireOpen("copyToHost", args);
                work.finish();
                yield handOn(method, args);
            }
            case "copyFromHost" -> copyFromHost((MemorySegment) args[0], (LateTensor) args[1], (long) args[2]);
            case "toHost" -> toHost((LateTensor) args[0], (long) args[1], (MemorySegment) args[2], (Fence) args[3]);
            case "fromHost" -> fromHost((MemorySegment) args[0], (LateTensor) args[1], (long) args[2],
                    (Fence) args[3]);
            case "takeFrom" -> takeFrom((Tensor) args[0], (LateTensor) args[1], (long) args[2], (long) args[3]);
            case "share" -> sharesMemory ? Optional.empty() : Optional.of(LateShared.make((long) args[0]));
            case "openShared" -> sharesMemory ? Optional.empty() : LateShared.open((byte[]) args[0]);
            case "toShared" -> toShared((LateTensor) args[0], (long) args[1], (long) args[2], args[3], (long) args[4]);
            case "fromShared" -> fromShared(args[0], (long) args[1], (LateTensor) args[2], (long) args[3],
                    (long) args[4]);
            case "allocatedBytes" -> {
                work.finish();
                yield handOn(method, args);
            }
            case "close" -> {
                work.clear();
                yield handOn(method, args);
            }
            default -> method.getReturnType() == void.class ? kernel(method, args) : handOn(method, args);
        };
    }

    private Object kernel(Method method, Object[] args) {
        work.ask(new LateWork.Job(method.getName(), requireOpen(method.getName(), args), () -> handOn(method, args)));
        return null;
    }

    /** Calls the other engine with the tensors of that engine. */
    private Object handOn(Method method, Object[] args) {
        Object[] own = Arrays.stream(args).map(arg -> arg instanceof LateTensor tensor ? tensor.own() : arg).toArray();
        synchronized (work) {
            try {
                return method.invoke(engine, own);
            } catch (InvocationTargetException thrown) {
                if (thrown.getCause() instanceof RuntimeException broken) {
                    throw broken;
                }
                throw new IllegalStateException(thrown.getCause());
            } catch (IllegalAccessException impossible) {
                throw new IllegalStateException(impossible);
            }
        }
    }

    private List<LateTensor> requireOpen(String name, Object... args) {
        List<LateTensor> tensors = new ArrayList<>();
        synchronized (work) {
            for (Object arg : args) {
                if (arg instanceof LateTensor tensor) {
                    if (tensor.isClosed()) {
                        throw new IllegalStateException(
                                String.format(Locale.ROOT, "%s: %s is used after it was closed", name, tensor));
                    }
                    tensors.add(tensor);
                }
            }
        }
        return tensors;
    }

    private Tensor allocate(DataType dataType, Shape shape) {
        synchronized (work) {
            LateTensor tensor = new LateTensor(this, engine.allocate(dataType, shape));
            write(tensor, (byte) -1); // NaN in each float type
            work.ask(new LateWork.Job("allocate", List.of(tensor), () -> write(tensor, (byte) 0)));
            return tensor;
        }
    }

    private void write(LateTensor tensor, byte value) {
        MemorySegment bytes = MemorySegment.ofArray(new long[CHUNK_BYTES / Long.BYTES]).fill(value);
        for (long at = 0; at < tensor.byteCount(); at += CHUNK_BYTES) {
            engine.copyFromHost(bytes.asSlice(0, Math.min(CHUNK_BYTES, tensor.byteCount() - at)), tensor.own(), at);
        }
    }

    private Tensor range(Method method, Object[] args, long first, Shape shape) {
        LateTensor whole = requireOpen(method.getName(), args).getFirst();
        return new LateTensor(whole, first, shape, (Tensor) handOn(method, args));
    }

    private Optional<MemorySegment> hostMemory(LateTensor tensor) {
        requireOpen("hostMemory", tensor);
        synchronized (work) {
            return sharesMemory ? engine.hostMemory(tensor.own()) : Optional.empty();
        }
    }

    private Object copyFromHost(MemorySegment source, LateTensor target, long byteOffset) {
        byte[] bytes = new byte[Math.toIntExact(source.byteSize())];
        MemorySegment read = MemorySegment.ofArray(bytes).copyFrom(source);
        work.ask(new LateWork.Job("copyFromHost", requireOpen("copyFromHost", target),
                () -> engine.copyFromHost(read, target.own(), byteOffset)));
        return null;
    }

    private Fence toHost(LateTensor source, long byteOffset, MemorySegment target, Fence after) {
        requireOpen("toHost", source);
        MemorySegment first = MemorySegment.ofArray(new byte[Math.toIntExact(target.byteSize())]);
        return work.ask(new LateWork.Copy("toHost", source, LateWork.behind(after), false,
                () -> engine.copyToHost(source.own(), byteOffset, first), () -> {
                    engine.copyToHost(source.own(), byteOffset, target);
                    if (target.mismatch(first) >= 0) {
                        throw new IllegalStateException(
                                String.format(Locale.ROOT, "toHost: %s was written while it was copied", source));
                    }
                }));
    }

    private Fence fromHost(MemorySegment source, LateTensor target, long byteOffset, Fence after) {
        requireOpen("fromHost", target);
        return work.ask(new LateWork.Copy("fromHost", target, LateWork.behind(after), true, () -> {
        }, () -> engine.copyFromHost(source, target.own(), byteOffset)));
    }

    private Optional<Fence> takeFrom(Tensor source, LateTensor target, long byteOffset, long byteCount) {
        if (sharesMemory || !(source instanceof LateTensor other)) {
            return Optional.empty();
        }
        MemorySegment bytes = MemorySegment.ofArray(new byte[Math.toIntExact(byteCount)]);
        other.owner().toHost(other, byteOffset, bytes, Fence.REACHED).await();
        return Optional.of(fromHost(bytes, target, byteOffset, Fence.REACHED));
    }

    private Optional<Fence> toShared(LateTensor source, long byteOffset, long byteCount, Object target,
            long targetOffset) {
        if (sharesMemory || !(target instanceof LateShared shared)) {
            return Optional.empty();
        }
        synchronized (work) {
            lastOfShared = toHost(source, byteOffset, shared.slice(targetOffset, byteCount), lastOfShared);
            return Optional.of(lastOfShared);
        }
    }

    private Optional<Fence> fromShared(Object source, long sourceOffset, LateTensor target, long byteOffset,
            long byteCount) {
        if (sharesMemory || !(source instanceof LateShared shared)) {
            return Optional.empty();
        }
        synchronized (work) {
            lastOfShared = fromHost(shared.slice(sourceOffset, byteCount), target, byteOffset, lastOfShared);
            return Optional.of(lastOfShared);
        }
    }

    /** Called by a tensor, which is closed in the order of the calls. */
    void close(LateTensor tensor) {
        synchronized (work) {
            if (tensor.isBuffer() && !tensor.isClosed()) {
                if (!work.hasFailed()) {
                    work.ask(new LateWork.Job("close", List.of(tensor), tensor.own()::close));
                }
                tensor.markClosed();
            }
        }
    }
}
