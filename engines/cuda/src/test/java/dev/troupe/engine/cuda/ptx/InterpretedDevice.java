package dev.troupe.engine.cuda.ptx;

import dev.troupe.engine.Fence;
import dev.troupe.engine.Fence.Instants;
import dev.troupe.engine.cuda.device.Device;
import dev.troupe.engine.cuda.device.DeviceStream;
import dev.troupe.engine.cuda.device.LaunchArguments;
import dev.troupe.engine.cuda.device.SharedAllocation;
import dev.troupe.engine.cuda.ptx.DeviceMemory.Allocation;
import dev.troupe.engine.provider.LostDeviceException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * A GPU that interprets the PTX of a module: the very text that a driver would be given. Its streams do all they are asked
 * at once, or as late as somebody waits for it, streams independently. Blocks run one after another, in an order
 * that is drawn anew for each launch.
 *
 * <p>Thread rule: any thread; launches run one at a time.
 */
public final class InterpretedDevice implements Device {
    private final Random random;
    private final boolean isLate;
    private final int ordinal;
    private final DeviceMemory memory;
    private final SharedGpu shared;
    private final Grids grids;
    /** The ordinals of devices that share a bridge, and so may reach each other. */
    private final List<Set<Integer>> bridges;
    /** The devices with reachable memory, by earlier queries. */
    private final Set<InterpretedDevice> reached = new HashSet<>();
    /** The lock for all work of the devices of a machine, since their streams wait for each other. */
    private final Object lock;
    private final StreamHandles streams = new StreamHandles();
    private int waits;
    private int copiesToHost;
    private int copiesFromHost;
    /** Why every call fails; null if none does. */
    private volatile String lost;

    /** A GPU with empty memory, and orders drawn from random numbers. */
    public InterpretedDevice(PtxModule module, Random random) {
        this(module, random, false, 0, List.of(), new Object(), new SharedGpu());
    }

    private InterpretedDevice(PtxModule module, Random random, boolean isLate, int ordinal,
            List<Set<Integer>> bridges, Object lock, SharedGpu shared) {
        this.random = random;
        this.isLate = isLate;
        this.ordinal = ordinal;
        this.bridges = bridges;
        this.lock = lock;
        this.shared = shared;
        this.memory = new DeviceMemory(ordinal);
        this.grids = new Grids(module, memory, random);
    }

    /** The same with streams that do nothing before somebody waits. */
    public static InterpretedDevice late(PtxModule module, Random random) {
        return new InterpretedDevice(module, random, true, 0, List.of(), new Object(), new SharedGpu());
    }

    /**
     * Late devices of a machine.
     *
     * @param bridges the ordinals of devices that reach each other's memory, once they are asked whether they do
     */
    public static List<InterpretedDevice> machine(PtxModule module, Random random, int count,
            List<Set<Integer>> bridges) {
        Object lock = new Object();
        return IntStream.range(0, count).mapToObj(ordinal -> new InterpretedDevice(module, random, true, ordinal,
                bridges, lock, new SharedGpu())).toList();
    }

    /** One late GPU, as each of several processes has it. */
    public static List<InterpretedDevice> processes(PtxModule module, Random random, int count) {
        SharedGpu shared = new SharedGpu();
        return IntStream.range(0, count).mapToObj(
                _ -> new InterpretedDevice(module, random, true, 0, List.of(), new Object(), shared)).toList();
    }

    @Override
    public SharedAllocation share(long bytes) {
        requireDevice();
        return shared.share(this, memory, bytes);
    }

    @Override
    public Optional<SharedAllocation> openShared(byte[] handle) {
        requireDevice();
        return shared.open(this, memory, handle);
    }

    @Override
    public boolean reaches(Device other) {
        if (other == this) {
            return true;
        }
        boolean isPeer = other instanceof InterpretedDevice peer && peer.lock == lock
                && bridges.stream().anyMatch(bridge -> bridge.containsAll(List.of(ordinal, peer.ordinal)));
        synchronized (lock) {
            if (isPeer && reached.add((InterpretedDevice) other)) {
                memory.reach(((InterpretedDevice) other).memory);
            }
        }
        return isPeer;
    }

    /** Makes each call from now on fail, except frees, as on a GPU after an access outside its memory. */
    public void lose(String why) {
        lost = why;
    }

    private void requireDevice() {
        if (lost != null) {
            throw new LostDeviceException(lost);
        }
    }

    /** The number of the host's waits for unfinished work. */
    public int waits() {
        synchronized (lock) {
            return waits;
        }
    }

    public int copiesToHost() {
        synchronized (lock) {
            return copiesToHost;
        }
    }

    public int copiesFromHost() {
        synchronized (lock) {
            return copiesFromHost;
        }
    }

    public int openAllocations() {
        return memory.openAllocations();
    }

    @Override
    public DeviceStream openStream() {
        return new Stream();
    }

    /** Fails if a library's calls on this thread are not for this device. */
    public void requireCurrent() {
        requireDevice();
        if (!streams.areCurrent()) {
            throw new PtxFault("the device of the library is not current");
        }
    }

    /** Runs a library's work in the order of the stream with this handle. */
    public void ask(long stream, Runnable work) {
        streams.ask(stream, work);
    }

    /** Bytes of the device, for such work. */
    public MemorySegment memory(long address, long bytes) {
        requireDevice();
        Allocation found = memory.find(address, bytes);
        if (found == null) {
            throw new PtxFault("%d bytes at %#x lie outside all memory".formatted(bytes, address));
        }
        return MemorySegment.ofArray(found.bytes()).asSlice(address - found.address(), bytes);
    }

    private final class Stream implements DeviceStream {
        private final Deque<Runnable> queue = new ArrayDeque<>();
        private final long handle = streams.add(this::ask);
        private long asked;
        private long done;

        private void ask(Runnable work) {
            requireDevice();
            synchronized (lock) {
                queue.add(work);
                asked++;
                if (!isLate) {
                    work(asked);
                }
            }
        }

        /** Does all work up to a number. */
        private void work(long until) {
            synchronized (lock) {
                while (done < until) {
                    done++;
                    queue.poll().run();
                }
            }
        }

        /** A wait by the host. */
        private void await(long number) {
            requireDevice();
            synchronized (lock) {
                waits += done < number ? 1 : 0;
                work(number);
            }
        }

        @Override
        public long allocate(long bytes) {
            requireDevice();
            return memory.allocate(bytes);
        }

        @Override
        public void free(long address) {
            if (lost == null) {
                ask(() -> memory.free(address));
            }
        }

        @Override
        public void fill(long address, int word, long words) {
            ask(() -> {
                MemorySegment target = memory(address, words * Integer.BYTES);
                for (long i = 0; i < words; i++) {
                    target.set(ValueLayout.JAVA_INT_UNALIGNED, i * Integer.BYTES, word);
                }
            });
        }

        @Override
        public void clear(long address, long bytes) {
            ask(() -> memory(address, bytes).fill((byte) 0));
        }

        @Override
        public void copy(long source, long target, long bytes) {
            ask(() -> memory(target, bytes).copyFrom(memory(source, bytes)));
        }

        @Override
        public void toHost(long source, MemorySegment target) {
            synchronized (lock) {
                copiesToHost++;
                fence().await();
                target.copyFrom(memory(source, target.byteSize()));
            }
        }

        @Override
        public void fromHost(MemorySegment source, long target) {
            synchronized (lock) {
                copiesFromHost++;
            }
            MemorySegment read = MemorySegment.ofArray(source.toArray(ValueLayout.JAVA_BYTE));
            ask(() -> memory(target, read.byteSize()).copyFrom(read));
        }

        @Override
        public void launch(String kernel, int columns, int rows, int threads, LaunchArguments arguments) {
            byte[] parameters = grids.parameters(kernel, arguments);
            ask(() -> grids.launch(kernel, columns, rows, threads, parameters));
        }

        @Override
        public long handle() {
            requireDevice();
            streams.makeCurrent();
            return handle;
        }

        @Override
        public Fence fence() {
            requireDevice();
            synchronized (lock) {
                return new StreamFence();
            }
        }

        @Override
        public void waitFor(Fence fence) {
            if (fence instanceof StreamFence other && other.machine() == lock) {
                ask(other::reach);
            } else {
                fence.await();
            }
        }

        @Override
        public Instants instants(int count) {
            return new StreamInstants(count);
        }

        @Override
        public void close() {
            if (lost == null) {
                fence().await();
            }
            streams.remove(handle);
        }

        /** A mark is work of the stream, so that its time is the end of the work before it. */
        private final class StreamInstants implements Instants {
            private final long[] numbers;
            private final long[] nanos;

            StreamInstants(int count) {
                numbers = new long[count];
                nanos = new long[count];
            }

            @Override
            public void mark(int number) {
                synchronized (lock) {
                    nanos[number] = 0;
                    numbers[number] = asked + 1;
                    ask(() -> nanos[number] = System.nanoTime());
                }
            }

            @Override
            public long nanos(int number) {
                requireDevice();
                synchronized (lock) {
                    return nanos[number];
                }
            }

            @Override
            public void await(int number) {
                Stream.this.await(numbers[number]);
            }
        }

        private final class StreamFence implements Fence {
            private final long number = asked;

            Object machine() {
                return lock;
            }

            /** The device reaches it. */
            void reach() {
                work(number);
            }

            /** One of four polls finds that some more was done. */
            @Override
            public boolean isReached() {
                requireDevice();
                synchronized (lock) {
                    if (done < number && random.nextInt(4) == 0) {
                        work(Math.min(number, done + 1 + random.nextInt(40)));
                    }
                    return done >= number;
                }
            }

            @Override
            public void await() {
                Stream.this.await(number);
            }
        }
    }
}
