package dev.troupe.engine.cpu.library;

/**
 * The instruction set that oneDNN uses: the processor's, or less if the environment limits oneDNN.
 *
 * @param code oneDNN's {@code dnnl_cpu_isa_t}, with a bit for each extension of x86-64
 */
public record InstructionSet(int code) {
    private static final int AVX2 = 0x7;
    private static final int AVX2_VNNI = 0xf;
    private static final int AVX2_VNNI_2 = 0x1f;
    private static final int AVX512 = 0x27;
    private static final int AVX512_BF16 = 0xe7;
    private static final int AMX = 0xfef;
    /** The two extensions that multiply bfloat16, or at least convert it as they load; AMX has the second as well. */
    private static final int BFLOAT16 = 0x10 | 0x80;

    public static InstructionSet here() {
        return new InstructionSet(OneDnn.instructionSet());
    }

    boolean hasAmx() {
        return has(AMX);
    }

    public boolean hasAvx2() {
        return has(AVX2);
    }

    boolean multipliesBfloat16() {
        return (code & BFLOAT16) != 0;
    }

    private boolean has(int bits) {
        return (code & bits) == bits;
    }

    @Override
    public String toString() {
        if (has(AMX)) {
            return "AMX";
        }
        if (has(AVX512)) {
            return has(AVX512_BF16) ? "AVX-512 and its bfloat16" : "AVX-512";
        }
        if (has(AVX2)) {
            return has(AVX2_VNNI_2) ? "AVX2, VNNI and bfloat16" : has(AVX2_VNNI) ? "AVX2 and VNNI" : "AVX2";
        }
        return code == 0 ? "what the processor has" : "less than AVX2";
    }
}
