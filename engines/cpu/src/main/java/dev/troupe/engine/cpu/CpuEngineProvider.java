package dev.troupe.engine.cpu;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.cpu.library.BfloatUnits;
import dev.troupe.engine.cpu.library.InstructionSet;
import dev.troupe.engine.cpu.library.Limits;
import dev.troupe.engine.cpu.library.OneDnn;
import dev.troupe.engine.cpu.library.Processor;
import dev.troupe.engine.cpu.library.Tiles;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.product.ProductChoice;
import dev.troupe.engine.cpu.product.RowTrial;
import dev.troupe.engine.cpu.table.CpuProducts;
import dev.troupe.engine.provider.Capability;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.Need;
import dev.troupe.engine.provider.ProductLibraries;
import java.util.Optional;

/**
 * The provider of {@link CpuEngine}s: on Linux, on x86-64 with AVX2 and on aarch64 (untested), in float32 with products of
 * float32 or bfloat16, in a JVM with the Vector API. Engines share nothing; any number may compute concurrently, each with
 * its own threads.
 */
public final class CpuEngineProvider implements EngineProvider {
    public static final String KIND = "cpu";

    private static final int PREFERENCE = 20;
    private static final String VECTOR_MODULE = "jdk.incubator.vector";
    private static final int AVX2_BITS = 256;

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
        return obstacle(new EngineSettings(DataType.FLOAT32, 1)).orElseGet(() -> "oneDNN " + OneDnn.version() + " with "
                + InstructionSet.here() + " and vector kernels of " + Lanes.FLOATS.vectorBitSize() + " bits, "
                + Processor.here().architecture());
    }

    @Override
    public Optional<String> obstacle(Need need) {
        return switch (need) {
            case EngineSettings settings -> obstacle(settings);
            case Capability _ -> Optional.empty();
        };
    }

    private static Optional<String> obstacle(EngineSettings settings) {
        Optional<String> unfit = EngineProvider.unlessFloat32(KIND, settings).or(Processor.here()::obstacle);
        if (unfit.isPresent()) {
            return unfit;
        }
        if (ModuleLayer.boot().findModule(VECTOR_MODULE).isEmpty()) {
            return Optional.of("the cpu engine needs the Vector API; start the JVM with --add-modules="
                    + VECTOR_MODULE);
        }
        return Library.OBSTACLE.or(CpuEngineProvider::limitObstacle).or(() -> exactObstacle(settings));
    }

    private static Optional<String> exactObstacle(EngineSettings settings) {
        if (!settings.exactRows()) {
            return Optional.empty();
        }
        return settings.floatParts() == 0
                ? RowTrial.obstacle(settings.computeType())
                : Optional.of("engine.exact-rows = true has products of whole floats alone: set engine.float32-products"
                        + " = exact, or engine.exact-rows = false");
    }

    @Override
    public Optional<String> caution(EngineSettings settings) {
        if (settings.computeType() == DataType.BFLOAT16) {
            return BfloatUnits.arePresent()
                    ? Optional.empty()
                    : Optional.of("oneDNN has no units for bfloat16 here (avx512_bf16 or amx_bf16 of the processor), so"
                            + " its products widen to float32 what they multiply: the results are right and messages are"
                            + " half as long, but training.precision = float32 computes faster");
        }
        return settings.floatParts() == 0
                ? Optional.empty()
                : Tiles.obstacle().map(why -> "products of float32 are computed exactly, since " + why
                        + ": engine.float32-products gains nothing here");
    }

    /** Why the environment or the JVM's flags make a suitable processor unusable. */
    private static Optional<String> limitObstacle() {
        if (Processor.here().isX86() && !InstructionSet.here().hasAvx2()) {
            return Optional.of("the cpu engine needs AVX2, but oneDNN is limited to " + InstructionSet.here()
                    + "; unset ONEDNN_MAX_CPU_ISA, or take the engine nd4j or reference");
        }
        if (Processor.here().isX86() && Lanes.FLOATS.vectorBitSize() < AVX2_BITS) {
            return Optional
                    .of("the cpu engine needs vectors of " + AVX2_BITS + " bits, but the vectors of this JVM have "
                            + Lanes.FLOATS.vectorBitSize()
                            + " bits; start it without -XX:UseAVX and -XX:MaxVectorSize, or take the"
                            + " engine nd4j or reference");
        }
        return Optional.empty();
    }

    @Override
    public Optional<String> limit() {
        return Limits.here();
    }

    /** The result of the first attempt to load oneDNN, kept since later attempts do not give the reason of a failure. */
    private static final class Library {
        static final Optional<String> OBSTACLE = obstacle();

        private static Optional<String> obstacle() {
            try {
                OneDnn.version();
                return Optional.empty();
            } catch (LinkageError | RuntimeException failure) {
                Throwable reason = failure.getCause() == null ? failure : failure.getCause();
                return Optional.of("the cpu engine could not load oneDNN (" + reason.getMessage()
                        + "); without it take the engine nd4j or reference, which are slower");
            }
        }
    }

    @Override
    public Optional<ProductLibraries> productLibraries() {
        return Optional.of(new CpuProducts(this::open));
    }

    @Override
    public Engine create(EngineSettings settings) {
        ProductChoice.parse(settings.products()).require(settings.computeType());
        return new CpuEngine(settings);
    }
}
