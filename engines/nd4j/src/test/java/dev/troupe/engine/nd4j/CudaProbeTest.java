package dev.troupe.engine.nd4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.nd4j.CudaProbe.Answer;
import dev.troupe.engine.nd4j.CudaProbe.Capability;
import dev.troupe.engine.nd4j.CudaProbe.Devices;
import dev.troupe.engine.nd4j.CudaProbe.Failure;
import dev.troupe.engine.nd4j.CudaProbe.NoDriver;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("parity")
class CudaProbeTest {
    @ParameterizedTest
    @CsvSource({"3,7", "5,0", "5,2", "6,1", "7,0", "7,5", "8,0", "8,6", "8,9"})
    void shouldTakeGpusThatItsMachineCodeSupports(int major, int minor) {
        assertEquals(Optional.empty(), CudaProbe.obstacle(devices(new Capability(major, minor))));
    }

    @ParameterizedTest
    @CsvSource({"2,1", "3,0", "3,5", "9,0", "10,0", "12,0"})
    void shouldReportAnUnsupportedCapability(int major, int minor) {
        String sentence = obstacle(devices(new Capability(major, minor)));
        assertTrue(sentence.contains("GPU 0 has compute capability " + major + "." + minor), sentence);
        assertTrue(sentence.contains("3.7 to 8.6"), sentence);
    }

    @Test
    void shouldNameTheUnsuitableGpuOfSeveral() {
        String sentence = obstacle(devices(new Capability(8, 0), new Capability(9, 0)));
        assertTrue(sentence.startsWith("GPU 1 has compute capability 9.0"), sentence);
        assertTrue(sentence.contains("CUDA_VISIBLE_DEVICES"), sentence);
    }

    @Test
    void shouldReportAMissingGpu() {
        for (Answer answer : List.of(devices(), new Failure("cuInit", 100))) {
            String sentence = obstacle(answer);
            assertTrue(sentence.startsWith("the CUDA engine needs an NVIDIA GPU"), sentence);
        }
    }

    @Test
    void shouldReportWhatIsWrongWithTheDriver() {
        String missing = obstacle(new NoDriver("there is no libcuda.so.1"));
        assertTrue(missing.contains("there is no libcuda.so.1"), missing);
        String broken = obstacle(new Failure("cuInit", 803));
        assertTrue(broken.contains("cuInit failed with error 803"), broken);
    }

    @Test
    void shouldGetAnAnswerOnAnyMachine() {
        switch (CudaProbe.ask()) {
            case NoDriver(String reason) -> assertTrue(reason.contains("cuda"), reason);
            case Failure(String call, int result) -> assertTrue(result != 0, call);
            case Devices(List<Capability> capabilities) -> capabilities.forEach(
                    capability -> assertTrue(capability.major() > 0, capability.toString()));
        }
    }

    private static Devices devices(Capability... capabilities) {
        return new Devices(List.of(capabilities));
    }

    private static String obstacle(Answer answer) {
        return CudaProbe.obstacle(answer).orElseThrow();
    }
}
