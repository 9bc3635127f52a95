package dev.troupe.engine.cpu.library;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The properties of a machine that decide whether the engine runs on it.
 *
 * @param system as Java's {@code os.name}
 * @param architecture as Java's {@code os.arch}
 * @param features extensions of the instruction set, as Linux names them; empty if unknown
 */
public record Processor(String system, String architecture, Set<String> features) {
    private static final Path PROCESSORS = Path.of("/proc/cpuinfo");
    private static final Pattern FLAGS = Pattern.compile("(flags|Features)\\s*:.*");
    private static final Pattern BLANKS = Pattern.compile("\\s+");
    private static final Set<String> X86_64 = Set.of("amd64", "x86_64");
    private static final String MODEL = "model name";
    private static final String AARCH64 = "aarch64";

    public Processor {
        architecture = architecture.toLowerCase(Locale.ROOT);
        features = Set.copyOf(features);
    }

    /** The processor of this machine, as the system describes it. */
    public static Processor here() {
        return new Processor(System.getProperty("os.name"), System.getProperty("os.arch"), featuresHere());
    }

    private static Set<String> featuresHere() {
        try {
            return featuresIn(Files.readAllLines(PROCESSORS));
        } catch (IOException _) {
            return Set.of(); // a system that keeps no such file
        }
    }

    /** The features of the first processor in the lines of {@code /proc/cpuinfo}. */
    static Set<String> featuresIn(List<String> lines) {
        return lines.stream().filter(line -> FLAGS.matcher(line).matches()).findFirst()
                .map(line -> BLANKS.splitAsStream(line).collect(Collectors.toUnmodifiableSet())).orElse(Set.of());
    }

    /** The system's name for the model of the first processor; its architecture if the system has none. */
    public static String model() {
        try {
            return Files.readAllLines(PROCESSORS).stream().filter(line -> line.startsWith(MODEL)).findFirst()
                    .map(line -> line.substring(line.indexOf(':') + 1).strip()).filter(name -> !name.isEmpty())
                    .orElseGet(() -> System.getProperty("os.arch"));
        } catch (IOException _) {
            return System.getProperty("os.arch");
        }
    }

    public boolean isX86() {
        return X86_64.contains(architecture);
    }

    /** Why the engine does not run here, in one sentence; empty if it does. */
    public Optional<String> obstacle() {
        if (!system.equals("Linux") || !isX86() && !architecture.equals(AARCH64)) {
            return Optional.of("the cpu engine runs on Linux on x86-64 and aarch64, but this is " + system + " on "
                    + architecture + "; take the engine nd4j or reference");
        }
        if (isX86() && !features.contains("avx2")) {
            return Optional.of("the cpu engine needs AVX2, which this x86-64 processor does not have;"
                    + " take the engine nd4j or reference");
        }
        return Optional.empty();
    }
}
