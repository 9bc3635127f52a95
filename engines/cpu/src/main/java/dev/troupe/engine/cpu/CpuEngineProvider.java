package dev.troupe.engine.cpu;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.EngineProvider;
import dev.troupe.engine.EngineSettings;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Opens {@link CpuEngine}s: on Linux, on x86-64 and aarch64 (on the latter untested), in float32 with products of float32
 * or bfloat16, in a JVM that has the Vector API. Engines share nothing; any number may be open and compute at a time, each with threads of its own.
 */
public final class CpuEngineProvider implements EngineProvider {
    /** The value of {@code engine.kind} for this engine. */
    public static final String KIND = "cpu";

    private static final int PREFERENCE = 20;
    private static final String VECTOR_MODULE = "jdk.incubator.vector";
    private static final Set<String> PROCESSORS = Set.of("amd64", "x86_64", "aarch64");

    /** For {@link java.util.ServiceLoader}. */
    public CpuEngineProvider() {
    }

    @Override
    public String kind() {
        return KIND;
    }

    @Override
    public int preference() {
        return PREFERENCE;
    }

    @Override
    public String description() {
        return obstacle(new EngineSettings(DataType.FLOAT32, 1)).orElseGet(() -> "oneDNN " + OneDnn.version()
                + " and vector kernels of " + Lanes.FLOATS.vectorBitSize() + " bits, " + processor());
    }

    @Override
    public Optional<String> obstacle(EngineSettings settings) {
        if (settings.floatType() != DataType.FLOAT32) {
            return Optional.of("the cpu engine computes in FLOAT32, not in " + settings.floatType()
                    + "; set training.precision = float32, or take the engine reference or nd4j");
        }
        String system = System.getProperty("os.name");
        if (!system.equals("Linux") || !PROCESSORS.contains(processor())) {
            return Optional.of("the cpu engine runs on Linux on x86-64 and aarch64, but this is " + system + " on "
                    + processor() + "; take the engine nd4j");
        }
        if (ModuleLayer.boot().findModule(VECTOR_MODULE).isEmpty()) {
            return Optional.of("the cpu engine needs the Vector API; start the JVM with --add-modules="
                    + VECTOR_MODULE);
        }
        return libraryObstacle();
    }

    @Override
    public Optional<String> caution(EngineSettings settings) {
        return settings.productType() != DataType.BFLOAT16 || BfloatUnits.arePresent()
                ? Optional.empty()
                : Optional
                        .of("this processor has no units for bfloat16 (avx512_bf16 or amx_bf16), so oneDNN computes its"
                                + " products in other ways: the results are right, but float32 is faster");
    }

    private static Optional<String> libraryObstacle() {
        try {
            OneDnn.version();
            return Optional.empty();
        } catch (LinkageError | RuntimeException failure) {
            Throwable reason = failure.getCause() == null ? failure : failure.getCause();
            return Optional.of("the cpu engine could not load oneDNN (" + reason.getMessage()
                    + "); take the engine nd4j");
        }
    }

    private static String processor() {
        return System.getProperty("os.arch").toLowerCase(Locale.ROOT);
    }

    @Override
    public Engine open(EngineSettings settings) {
        obstacle(settings).ifPresent(sentence -> {
            throw new IllegalStateException(sentence);
        });
        return new CpuEngine(settings);
    }
}
