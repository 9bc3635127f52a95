package dev.troupe.engine.cpu;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Whether this processor multiplies bfloat16 in units of its own. */
final class BfloatUnits {
    private static final Path PROCESSORS = Path.of("/proc/cpuinfo");
    private static final Pattern FLAGS = Pattern.compile("(flags|Features)\\s*:.*");
    private static final Pattern BLANKS = Pattern.compile("\\s+");
    /** On x86-64 AVX-512's and AMX's, on aarch64 the extension of that name. */
    private static final Set<String> UNITS = Set.of("avx512_bf16", "amx_bf16", "bf16");

    private BfloatUnits() {
    }

    /** Asks the system; where it does not say, there are none. */
    static boolean arePresent() {
        try {
            return areIn(Files.readAllLines(PROCESSORS));
        } catch (IOException _) {
            return false; // a system that keeps no such file
        }
    }

    /** Whether the lines of {@code /proc/cpuinfo} name such units. */
    static boolean areIn(List<String> lines) {
        return lines.stream().filter(line -> FLAGS.matcher(line).matches()).findFirst()
                .map(line -> BLANKS.splitAsStream(line).anyMatch(UNITS::contains)).orElse(false);
    }
}
