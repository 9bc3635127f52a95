package dev.troupe.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class TransportSettingsTest {
    private static final Path LIMIT = Path.of("/proc/sys/net/core/rmem_max");
    private static final long LEAST = 128 << 10;
    private static final long MOST = 4 << 20;

    @Test
    void shouldReceiveInTheLargestWindowThatTheKernelGrants() throws IOException {
        assumeTrue(Files.exists(LIMIT));
        long granted;
        try (BufferedReader limit = Files.newBufferedReader(LIMIT)) {
            granted = Long.parseLong(limit.readLine().strip());
        }
        long window = Math.clamp(granted, LEAST, MOST);
        assertEquals("aeron:udp?endpoint=localhost:7|so-rcvbuf=" + window + "|rcv-wnd=" + window,
                TransportSettings.defaults().receives("aeron:udp?endpoint=localhost:7"));
    }

    @Test
    void shouldLeaveTheWindowOfSharedMemoryToAeron() {
        assertEquals("aeron:ipc", TransportSettings.defaults().receives("aeron:ipc"));
    }
}
