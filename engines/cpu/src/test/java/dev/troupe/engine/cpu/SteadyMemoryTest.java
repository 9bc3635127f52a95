package dev.troupe.engine.cpu;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Steps hold the same memory and leave no garbage. They are taken in a process of their own: where a loop of vectors has run
 * in fewer than one call of a hundred so far, as with other sizes, the compiler inlines none of its operations, and each
 * makes an object from then on.
 */
class SteadyMemoryTest {
    @ParameterizedTest
    @EnumSource(names = {"FLOAT32", "BFLOAT16"})
    void shouldHoldTheSameMemoryAndLeaveNoGarbageStepForStep(DataType computeType) throws Exception {
        assertEquals("", faultsOf(computeType));
    }

    private static String faultsOf(DataType computeType) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> flag.startsWith("-X") || flag.startsWith("--"))
                .forEach(command::add);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), SteadyMemory.class.getName(),
                computeType.name()));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            assertTrue(process.waitFor(3, TimeUnit.MINUTES), "a process does not end that has said: " + output);
            return process.exitValue() == 0 ? output : "exit " + process.exitValue() + " " + output;
        } finally {
            process.destroyForcibly();
        }
    }
}
