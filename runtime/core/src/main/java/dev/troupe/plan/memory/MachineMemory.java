package dev.troupe.plan.memory;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** The free memory of this machine, or of the container of this process. */
public final class MachineMemory {
    private static final Path LINUX = Path.of("/proc/meminfo");
    private static final String AVAILABLE = "MemAvailable:";

    private MachineMemory() {
    }

    /** Returns the bytes that can be allocated without swapping: free memory, and memory that the system can release. */
    public static long availableBytes() {
        OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        if (!Files.isReadable(LINUX)) {
            return system.getTotalMemorySize(); // other systems do not tell the memory that they would release
        }
        try {
            // The total is the container's, if it has a limit; the file is the whole machine's.
            return Math.min(system.getTotalMemorySize(), available(Files.readString(LINUX)));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Parses the line {@code MemAvailable:  1234 kB}. */
    public static long available(String meminfo) {
        return meminfo.lines().filter(line -> line.startsWith(AVAILABLE)).findFirst()
                .map(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024)
                .orElse(Long.MAX_VALUE);
    }
}
