package dev.troupe.engine.cpu.library;

import dev.troupe.engine.DataType;
import java.util.Set;

/**
 * The test for units of the processor in which oneDNN multiplies bfloat16. Without them it has no such product (AVX2), or
 * an emulation that takes four times as long as a product of floats (AVX-512 without bfloat16), so products widen their
 * numbers.
 */
public final class BfloatUnits {
    /** The system's name for units of aarch64, for which oneDNN names no instruction set. */
    private static final Set<String> OF_AARCH64 = Set.of("bf16", "svebf16");
    /** The size of the product in the test: any that oneDNN has a kernel for. */
    private static final int SIZE = 256;

    private BfloatUnits() {
    }

    /** Computed once, by oneDNN, and so within any limit of the environment. */
    public static boolean arePresent() {
        return Answer.PRESENT;
    }

    /** The type in which products of such operands are computed. */
    public static DataType computing(DataType operands) {
        return operands == DataType.BFLOAT16 && !arePresent() ? DataType.FLOAT32 : operands;
    }

    /** Whether an instruction set of oneDNN, with the system's description of the processor, has units. */
    static boolean areIn(InstructionSet instructions, Processor processor) {
        return processor.isX86()
                ? instructions.multipliesBfloat16()
                : processor.features().stream().anyMatch(OF_AARCH64::contains);
    }

    private static boolean multiplies() {
        long a = Dnnl.descriptor(DataType.BFLOAT16, SIZE, SIZE, false, SIZE);
        long b = Dnnl.anyDescriptor(DataType.BFLOAT16, SIZE, SIZE);
        long plan = Dnnl.matmulPlanIfAny(a, b, Dnnl.NONE, a, 1, false);
        Dnnl.destroyDescriptor(a);
        Dnnl.destroyDescriptor(b);
        if (plan == Dnnl.NONE) {
            return false;
        }
        Dnnl.destroyPlan(plan);
        return true;
    }

    private static final class Answer {
        static final boolean PRESENT = areIn(InstructionSet.here(), Processor.here()) && multiplies();
    }
}
