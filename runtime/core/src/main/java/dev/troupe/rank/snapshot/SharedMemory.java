package dev.troupe.rank.snapshot;

import dev.troupe.snapshot.copy.SharedSnapshot;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * Anonymous memory ({@code memfd_create(2)}) that other processes of this machine and user can map while its owner lives. It
 * exists while any process has it mapped, and leaves no file.
 */
final class SharedMemory implements AutoCloseable {
    private static final Optional<Calls> CALLS = Calls.find();

    private record Calls(MethodHandle create, MethodHandle close) {
        private static final int CLOSE_ON_EXEC = 1;

        @SuppressWarnings("restricted") // the launcher enables native access
        static Optional<Calls> find() {
            if (!System.getProperty("os.name").equals("Linux")) {
                return Optional.empty();
            }
            Linker linker = Linker.nativeLinker();
            return linker.defaultLookup().find("memfd_create")
                    .map(create -> linker.downcallHandle(create,
                            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT)))
                    .flatMap(create -> linker.defaultLookup().find("close")
                            .map(close -> linker.downcallHandle(close,
                                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT)))
                            .map(close -> new Calls(create, close)));
        }

        int open() {
            try (Arena arena = Arena.ofConfined()) {
                return (int) create.invokeExact(arena.allocateFrom("troupe-snapshot"), CLOSE_ON_EXEC);
            } catch (Throwable failure) {
                throw new IllegalStateException("memfd_create was found but cannot be called", failure);
            }
        }

        void shut(int descriptor) {
            try {
                int ignored = (int) close.invokeExact(descriptor);
            } catch (Throwable failure) {
                throw new IllegalStateException("close was found but cannot be called", failure);
            }
        }
    }

    private final Calls calls;
    private final SharedSnapshot shared;
    private final Arena arena;
    private final MemorySegment segment;

    private SharedMemory(Calls calls, SharedSnapshot shared, Arena arena, MemorySegment segment) {
        this.calls = calls;
        this.shared = shared;
        this.arena = arena;
        this.segment = segment;
    }

    /**
     * Allocates {@code bytes}, all zero; empty if the system has no such memory.
     *
     * @param token distinguishes the memory from any other
     */
    static Optional<SharedMemory> allocate(long bytes, long token) {
        return CALLS.flatMap(calls -> {
            int descriptor = calls.open();
            if (descriptor < 0) {
                return Optional.empty();
            }
            SharedSnapshot shared = new SharedSnapshot(ProcessHandle.current().pid(), descriptor, token);
            Arena arena = Arena.ofShared();
            try (FileChannel file = FileChannel.open(path(shared), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                return Optional.of(new SharedMemory(calls, shared, arena,
                        file.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena)));
            } catch (IOException none) {
                arena.close();
                calls.shut(descriptor);
                return Optional.empty();
            }
        });
    }

    /**
     * Maps the shared memory of a process for reading.
     *
     * @throws IOException if the process has ended, shares no such memory, or belongs to another user
     */
    static MemorySegment map(SharedSnapshot shared, Arena arena) throws IOException {
        try (FileChannel file = FileChannel.open(path(shared), StandardOpenOption.READ)) {
            return file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), arena);
        }
    }

    /** Returns the path of the memory among the owner's open files. */
    private static Path path(SharedSnapshot shared) {
        return Path.of("/proc", Long.toString(shared.process()), "fd", Integer.toString(shared.descriptor()));
    }

    SharedSnapshot shared() {
        return shared;
    }

    MemorySegment segment() {
        return segment;
    }

    /** Unmaps the memory in this process; other processes that have mapped it keep it. */
    @Override
    public void close() {
        arena.close();
        calls.shut(shared.descriptor());
    }
}
