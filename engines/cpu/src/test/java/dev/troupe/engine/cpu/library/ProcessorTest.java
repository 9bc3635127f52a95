package dev.troupe.engine.cpu.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of the machines on which the engine runs, and of their units for bfloat16. */
@Tag("plan")
class ProcessorTest {
    private static final InstructionSet AVX2 = new InstructionSet(0x7);
    private static final InstructionSet AVX2_VNNI_2 = new InstructionSet(0x1f);
    private static final InstructionSet AVX512 = new InstructionSet(0x67);
    private static final InstructionSet AVX512_BF16 = new InstructionSet(0xe7);
    private static final InstructionSet AMX = new InstructionSet(0x1fef);
    private static final Processor X86 = new Processor("Linux", "amd64", Set.of("avx2", "bf16"));

    @Test
    void shouldRunOnLinuxOnX86WithAvx2AndOnAarch64() {
        assertEquals(Optional.empty(), X86.obstacle());
        assertEquals(Optional.empty(), new Processor("Linux", "x86_64", Set.of("avx", "avx2", "avx512f")).obstacle());
        assertEquals(Optional.empty(), new Processor("Linux", "aarch64", Set.of()).obstacle());
    }

    @Test
    void shouldReportWhyItDoesNotRunElsewhere() {
        assertEquals(Optional.of("the cpu engine needs AVX2, which this x86-64 processor does not have; take the engine"
                + " nd4j or reference"), new Processor("Linux", "amd64", Set.of("avx", "sse4_2")).obstacle());
        for (String[] machine : new String[][]{{"Mac OS X", "aarch64"}, {"Mac OS X", "x86_64"},
                {"Windows 11", "amd64"}, {"Linux", "ppc64le"}, {"Linux", "riscv64"}}) {
            assertEquals(Optional.of("the cpu engine runs on Linux on x86-64 and aarch64, but this is " + machine[0]
                    + " on " + machine[1] + "; take the engine nd4j or reference"),
                    new Processor(machine[0], machine[1], Set.of("avx2")).obstacle());
        }
    }

    @Test
    void shouldReadTheFeaturesOfTheFirstProcessor() {
        assertEquals(Set.of("flags", ":", "fpu", "avx2"), Processor.featuresIn(List.of("processor : 0", "bugs : bf16",
                "flags\t\t: fpu avx2", "flags\t\t: fpu avx512f")));
        assertTrue(Processor.featuresIn(List.of("Features\t: fp asimd bf16 i8mm")).contains("bf16"));
        assertEquals(Set.of(), Processor.featuresIn(List.of()));
    }

    @Test
    void shouldDetectUnitsForBfloat16ByTheInstructionSetOfOneDnn() {
        for (InstructionSet with : new InstructionSet[]{AVX2_VNNI_2, AVX512_BF16, AMX}) {
            assertTrue(BfloatUnits.areIn(with, X86), with.toString());
        }
        for (InstructionSet without : new InstructionSet[]{new InstructionSet(1), AVX2, AVX512}) {
            assertFalse(BfloatUnits.areIn(without, X86), without.toString());
        }
        assertTrue(BfloatUnits.areIn(new InstructionSet(0), new Processor("Linux", "aarch64", Set.of("bf16"))));
        assertFalse(BfloatUnits.areIn(new InstructionSet(0), new Processor("Linux", "aarch64", Set.of("asimd"))));
    }

    @Test
    void shouldReportLimitsBelowTheProcessor() {
        assertEquals(Optional.empty(), Limits.of(Map.of("PATH", "/bin"), List.of()));
        assertEquals(Optional.of("ONEDNN_MAX_CPU_ISA=AVX2 limits oneDNN: without, this processor may do more"),
                Limits.of(Map.of("ONEDNN_MAX_CPU_ISA", "AVX2", "DNNL_MAX_CPU_ISA", "SSE41"), List.of()));
        assertEquals(Optional.of("DNNL_MAX_CPU_ISA=AVX2 limits oneDNN, and -XX:UseAVX=2 limits the JVM: without, this"
                + " processor may do more"), Limits.of(Map.of("DNNL_MAX_CPU_ISA", "AVX2"), List.of("-XX:UseAVX=2")));
    }

    @Test
    void shouldNameInstructionSets() {
        assertEquals("AVX2", AVX2.toString());
        assertEquals("AVX2, VNNI and bfloat16", AVX2_VNNI_2.toString());
        assertEquals("AVX-512", AVX512.toString());
        assertEquals("AVX-512 and its bfloat16", AVX512_BF16.toString());
        assertEquals("AMX", AMX.toString());
        assertEquals("less than AVX2", new InstructionSet(0x3).toString());
        assertFalse(new InstructionSet(0x3).hasAvx2());
        assertTrue(AVX512.hasAvx2());
    }
}
