package dev.troupe.cli.stop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.troupe.cli.OtherJvm;
import dev.troupe.cli.Troupe;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands in processes of their own, with a standard output that cannot be written to. */
@Tag("real")
@Timeout(120)
class StandardOutputTest {
    private static final File FULL = new File("/dev/full");

    @ParameterizedTest
    @ValueSource(strings = {"--help", "--version", "keys", "completion bash",
            "schedule 1f1b --pipeline 2 --microbatches 4", "tokenize --help"})
    void shouldFailWithASentenceIfItsOutputIsLost(String command) throws Exception {
        assumeTrue(FULL.exists(), "only Linux has /dev/full");
        Process process = start(command, ProcessBuilder.Redirect.to(FULL));
        assertEquals(
                "troupe: could not write to the standard output (No space left on device), so what is printed there"
                        + " is not complete; make room there, or send the output to another place.\n",
                errorsOf(process));
        assertEquals(ExitCode.RUN_FAILED, process.exitValue());
    }

    /** As {@code troupe keys | head -1} does. */
    @Test
    void shouldNotMindAReaderThatLeaves() throws Exception {
        Process process = start("keys", ProcessBuilder.Redirect.PIPE);
        process.getInputStream().close();
        assertEquals("", errorsOf(process));
        assertEquals(ExitCode.DONE, process.exitValue());
    }

    private Process start(String command, ProcessBuilder.Redirect output) throws IOException {
        List<String> flags = OtherJvm.briefFlags();
        flags.removeIf(flag -> flag.contains("jdk.incubator.vector"));
        return new ProcessBuilder(OtherJvm.command(flags, Troupe.class, List.of(command.split(" "))))
                .redirectOutput(output).start();
    }

    private static String errorsOf(Process process) throws Exception {
        try {
            String errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(process.waitFor(60, TimeUnit.SECONDS), "it did not end");
            return errors;
        } finally {
            process.destroyForcibly();
        }
    }
}
