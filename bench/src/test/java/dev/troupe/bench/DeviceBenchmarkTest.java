package dev.troupe.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class DeviceBenchmarkTest {
    @Test
    void shouldPrintALineForEachKernel() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream output = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        assertEquals(0, new CommandLine(new DeviceBenchmark(output)).execute("--engine", "emulated", "--precision",
                "float32", "--sequences", "1", "--sequence", "4", "--hidden", "8", "--heads", "2", "--vocabulary",
                "16"));
        List<String> lines = bytes.toString(StandardCharsets.UTF_8).lines().toList();
        assertEquals(25, lines.size(), lines::toString);
        lines.forEach(line -> assertTrue(line.matches("[a-z ]+\\t[0-9.]+\\t[0-9.]+"), line));
    }
}
