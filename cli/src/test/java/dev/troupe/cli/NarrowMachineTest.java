package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.conformance.share.Dealt;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The command on a processor with AVX2 and no wider vectors, simulated by limiting the JVM and oneDNN to AVX2. */
@Tag("real")
@Dealt(5)
@Timeout(240)
@EnabledOnOs(value = OS.LINUX, architectures = "amd64")
class NarrowMachineTest {
    /** The change of a loss by the rounding of every activation. */
    private static final double OF_FLOAT32 = 1e-2;
    private static final int STEPS = 12;

    @TempDir
    private Path directory;

    @Test
    void shouldTrainInBfloat16NearFloat32AndHaveDoctorReportItsProducts() throws Exception {
        held("AVX2", Calls.class);
        double[] single = RunFiles.metrics(directory.resolve("float32"), "loss");
        double[] mixed = RunFiles.metrics(directory.resolve("bfloat16"), "loss");
        assertEquals(STEPS, single.length);
        for (int i = 0; i < single.length; i++) {
            assertEquals(single[i], mixed[i], OF_FLOAT32 * single[i], "step " + i);
        }
        assertFalse(Arrays.equals(single, mixed), "nothing was rounded");
        String doctor = Files.readString(directory.resolve("doctor.txt"));
        for (String part : new String[]{"with AVX2 and vector kernels of 256 bits", "yes cpu float32",
                "yes cpu bfloat16", "oneDNN cannot use units for bfloat16 here",
                "ONEDNN_MAX_CPU_ISA=AVX2 limits oneDNN", "-XX:UseAVX=2 limits the JVM", "fastest"}) {
            assertTrue(doctor.contains(part), "expected \"" + part + "\" in:\n" + doctor);
        }
        assertFalse(doctor.contains("WRONG"), doctor);
    }

    @Test
    void shouldTakeAnotherEngineWhenTheProcessorIsTooNarrowAndRefuseTheOneAskedFor() throws Exception {
        held("SSE41", TooNarrow.class);
        String auto = Files.readString(directory.resolve("auto.txt"));
        assertTrue(
                auto.contains("Note: engine.kind = auto takes nd4j: the cpu engine needs AVX2, but oneDNN is limited to"
                        + " less than AVX2"),
                auto);
    }

    /** The default run in both precisions, and the report of the doctor. */
    static final class Calls {
        public static void main(String[] arguments) {
            Path directory = Path.of(arguments[0]);
            for (String precision : List.of("float32", "bfloat16")) {
                Execution.train(directory.resolve(precision), MixedPrecisionTest.defaultRun(STEPS, precision))
                        .requireDone();
            }
            write(directory.resolve("doctor.txt"), Execution.of(List.of("doctor")).requireDone());
        }
    }

    /** A run with {@code auto}, and one with an engine that the processor cannot run. */
    static final class TooNarrow {
        public static void main(String[] arguments) {
            Path directory = Path.of(arguments[0]);
            Golden golden = Golden.named(Golden.TIED);
            write(directory.resolve("auto.txt"), Execution.train(directory.resolve("auto"),
                    golden.settings("engine.kind=auto", "training.steps=1")).requireDone());
            Path none = directory.resolve("none");
            Execution.train(none, golden.settings("engine.kind=cpu", "training.steps=1"))
                    .requireRefused("engine.kind = cpu cannot serve here: the cpu engine needs AVX2");
            assertFalse(Files.exists(none), "something was written");
        }
    }

    private static void write(Path file, Execution execution) {
        try {
            Files.writeString(file, execution.output());
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Runs a main class with a JVM and oneDNN that are limited to an instruction set. */
    private void held(String instructions, Class<?> calls) throws IOException, InterruptedException {
        OtherJvm.run(directory, Map.of("ONEDNN_MAX_CPU_ISA", instructions), List.of("-XX:UseAVX=2"), calls,
                List.of(directory.toString()));
    }
}
