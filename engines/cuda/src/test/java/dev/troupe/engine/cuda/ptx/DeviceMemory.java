package dev.troupe.engine.cuda.ptx;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The memory of an interpreted GPU. Each allocation has an end beyond which there is nothing, and holds no numbers until it
 * is written.
 *
 * <p>Thread rule: any thread, one at a time.
 */
final class DeviceMemory {
    private static final long FIRST = 0x7f_0000_0000L;
    private static final long BETWEEN_DEVICES = 1L << 40;
    private static final long ALIGNMENT = 256;
    private static final byte UNWRITTEN = -1;

    private final TreeMap<Long, Allocation> allocations = new TreeMap<>();
    /** The memories of other devices that this one reads and writes. */
    private final List<DeviceMemory> reached = new CopyOnWriteArrayList<>();
    private long next;
    private Allocation last = new Allocation(0, new byte[0]);

    record Allocation(long address, byte[] bytes) {
        boolean holds(long from, long size) {
            return from >= address && from + size <= address + bytes.length;
        }
    }

    /** The memory of one device of a machine; addresses on a machine are distinct. */
    DeviceMemory(int ordinal) {
        next = FIRST + ordinal * BETWEEN_DEVICES;
    }

    /** Makes another memory accessible here from now on. */
    void reach(DeviceMemory other) {
        reached.add(other);
    }

    synchronized long allocate(long size) {
        byte[] bytes = new byte[Math.toIntExact(size)];
        Arrays.fill(bytes, UNWRITTEN);
        return place(bytes);
    }

    /** Gives bytes an address here; they may be another device's bytes. */
    synchronized long place(byte[] bytes) {
        long address = next;
        allocations.put(address, new Allocation(address, bytes));
        next = (address + bytes.length + 2 * ALIGNMENT) / ALIGNMENT * ALIGNMENT; // with nothing between
        return address;
    }

    synchronized void free(long address) {
        if (allocations.remove(address) == null) {
            throw new PtxFault("memory that is not allocated is freed: " + Long.toHexString(address));
        }
        last = new Allocation(0, new byte[0]);
    }

    synchronized int openAllocations() {
        return allocations.size();
    }

    /** The allocation that holds these bytes, here or where this device reaches; or null. */
    Allocation find(long address, long size) {
        Allocation found = own(address, size);
        for (int i = 0; found == null && i < reached.size(); i++) {
            found = reached.get(i).own(address, size);
        }
        return found;
    }

    private synchronized Allocation own(long address, long size) {
        Allocation found = last;
        if (!found.holds(address, size)) {
            Map.Entry<Long, Allocation> entry = allocations.floorEntry(address);
            if (entry == null || !entry.getValue().holds(address, size)) {
                return null;
            }
            found = entry.getValue();
            last = found;
        }
        return found;
    }

    /** The allocation of an access by a lane, which must be aligned. */
    Allocation of(Warp warp, int lane, long address, int size) {
        Allocation found = last.holds(address, size) ? last : find(address, size);
        if (found == null) {
            throw warp.fault(lane, "%d bytes from %#x lie outside all memory".formatted(size, address));
        }
        if ((address & size - 1) != 0) {
            throw warp.fault(lane, "address %#x is no multiple of %d".formatted(address, size));
        }
        return found;
    }
}
