package dev.troupe.plan.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.plan.UsageException;
import dev.troupe.schedule.simulator.Hop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("plan")
class MachineFiguresTest {
    @TempDir
    private Path home;

    private MachineFigures read(String text) throws IOException {
        return MachineFigures.read(Files.writeString(home.resolve("figures.conf"), text));
    }

    @Test
    void shouldReadEveryKey() throws IOException {
        assertEquals(
                new MachineFigures(1e12, 8, new Hop(5_000, 2e11), new Hop(40_000_000, 1e7), OptionalLong.of(1L << 30)),
                read("""
                        device-flops = 1e12
                        node-ranks = 8
                        memory = 1GiB
                        inside { latency = 5us, bandwidth = 200GB }
                        between { latency = 40ms, bandwidth = 10MB }
                        """));
        assertEquals(MachineFigures.withFreeLinks(1e9, 1), read("device-flops = 1e9"));
        MachineFigures unequal = read("device-flops = [1e9, 4e9]");
        assertEquals(4e9, unequal.deviceFlops());
        assertEquals(List.of(0.25, 1.0), unequal.speeds());
        assertEquals(List.of(), read("device-flops = [2e9, 2e9]").speeds());
    }

    @Test
    void shouldWriteWhatItReads() throws IOException {
        String text = """
                device-flops = [1.5e9, 3e9, 3e9]
                node-ranks = 8
                memory = 1GiB
                inside { latency = 5us, bandwidth = 200GB }
                between { latency = 40ms, bandwidth = 10MB }
                """;
        assertEquals(read(text), read(read(text).toHocon()));
        MachineFigures halved = read(text).withShareOfLink(3, 0, 2, 0.5);
        assertEquals(new Hop(40_000_000, 5e6), halved.way(2, 0));
        assertEquals(new Hop(40_000_000, 1e7), halved.way(1, 0));
        assertEquals(halved.way(0, 2), halved.inOrder(List.of(2, 1, 0)).way(2, 0));
        assertEquals(new Hop(40_000_000, 5e6), read(halved.toHocon()).between());
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', value = {"node-ranks = 2;device-flops", "device-flops = 0;must be above 0",
            "device-flops = 1e9, speed = 1;has the key speed", "device-flops = [1e9, 0];must be above 0",
            "device-flops = fast;has no figures of machines",
            "device-flops = 1e9, between.latency = 1ms;between.bandwidth", "{;has no figures of machines"})
    void shouldRefuseOtherFiles(String text, String why) {
        String refusal = assertThrows(UsageException.class, () -> read(text)).getMessage();
        assertTrue(refusal.contains(why), refusal);
    }

    @Test
    void shouldRefuseNoFileAndNoBytes() {
        assertTrue(assertThrows(UsageException.class, () -> MachineFigures.read(home.resolve("none"))).getMessage()
                .startsWith("--costs: there is no file "));
        assertEquals(80L << 30, MachineFigures.bytes("--memory", "80GiB"));
        for (String text : new String[]{"", "-1", "0", "lots", "1e999GB"}) {
            assertEquals("--memory must be a number of bytes above 0, such as 80GiB, but found \"" + text + '"',
                    assertThrows(UsageException.class, () -> MachineFigures.bytes("--memory", text)).getMessage());
        }
    }
}
