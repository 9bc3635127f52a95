package dev.troupe.engine.cuda.ptx;

import dev.troupe.engine.cuda.device.Device;
import dev.troupe.engine.cuda.device.DeviceException;
import dev.troupe.engine.cuda.device.SharedAllocation;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The memory that the processes of a GPU share, each of which has a {@link InterpretedDevice} of its own. What the driver
 * leaves undefined is a fault here: memory that goes while another process has it open.
 */
final class SharedGpu {
    private final Map<Integer, Shared> allocations = new HashMap<>();
    private int lastKey;

    private record Shared(Device owner, byte[] bytes, int[] openings) {
    }

    synchronized SharedAllocation share(Device owner, DeviceMemory memory, long size) {
        int key = ++lastKey;
        long address = memory.allocate(size);
        Shared shared = new Shared(owner, memory.find(address, size).bytes(), new int[1]);
        allocations.put(key, shared);
        return part(owner, address, size, key, () -> {
            if (shared.openings[0] > 0) {
                throw new PtxFault("shared memory is freed that another process has open");
            }
            allocations.remove(key);
            memory.free(address);
        });
    }

    synchronized Optional<SharedAllocation> open(Device device, DeviceMemory memory, byte[] handle) {
        int key = ByteBuffer.wrap(handle).getInt();
        Shared shared = allocations.get(key);
        if (shared == null) {
            return Optional.empty(); // of another GPU
        }
        if (shared.owner == device) {
            throw new DeviceException("a process cannot open what it shares itself");
        }
        long address = memory.place(shared.bytes);
        shared.openings[0]++;
        return Optional.of(part(device, address, shared.bytes.length, key, () -> {
            shared.openings[0]--;
            memory.free(address);
        }));
    }

    /** Memory as one process has it. */
    private SharedAllocation part(Device device, long address, long size, int key, Runnable end) {
        return new SharedAllocation(device, address, size, ByteBuffer.allocate(Integer.BYTES).putInt(key).array(),
                () -> {
                    synchronized (this) {
                        end.run();
                    }
                });
    }
}
