package dev.troupe.look.output;

import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** {@code memory.json} in a run's directory: the memory of the leading node's process, with all its ranks. */
public final class ProcessMemory {
    public static final String FILE = "memory.json";

    private static final Path STATUS = Path.of("/proc/self/status");
    private static final JsonMapper JSON = new JsonMapper();

    private ProcessMemory() {
    }

    /** Returns the present sizes in bytes; 0 if the system does not report them. */
    static String text() {
        List<String> status = status();
        return JSON.createObjectNode().put("time_ms", System.currentTimeMillis())
                .put("resident_bytes", bytes(status, "VmRSS:")).put("peak_resident_bytes", bytes(status, "VmHWM:"))
                .put("shared_bytes", bytes(status, "RssShmem:"))
                .put("heap_bytes", ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed()) + "\n";
    }

    /** Returns the present memory of this process in bytes; 0 if the system does not report it. */
    public static long residentBytes() {
        return bytes(status(), "VmRSS:");
    }

    private static List<String> status() {
        try {
            return Files.readAllLines(STATUS);
        } catch (IOException _) {
            return List.of(); // not on Linux
        }
    }

    /** Parses a line such as {@code VmRSS:  1234 kB}. */
    private static long bytes(List<String> status, String name) {
        return status.stream().filter(line -> line.startsWith(name)).findFirst()
                .map(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024).orElse(0L);
    }
}
