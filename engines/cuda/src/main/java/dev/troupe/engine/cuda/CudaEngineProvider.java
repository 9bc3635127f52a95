package dev.troupe.engine.cuda;

import dev.troupe.engine.cuda.blas.CublasLt;
import dev.troupe.engine.cuda.blas.CublasSearch;
import dev.troupe.engine.cuda.device.Gpus;
import dev.troupe.engine.cuda.device.Gpus.Gpu;
import dev.troupe.engine.cuda.driver.DriverGpus;
import dev.troupe.engine.provider.Capability;
import dev.troupe.engine.provider.DevicePick;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.Finding;
import dev.troupe.engine.provider.Need;
import dev.troupe.engine.provider.ProductLibraries;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The provider of {@link CudaEngine}s on GPUs of compute capability 8.0 or later, in float32 with products of float32 or
 * bfloat16: on the GPU that the configuration names, or in rotation over all GPUs of the driver.
 */
public final class CudaEngineProvider implements EngineProvider {
    public static final String KIND = "cuda";

    /** Below engines for processors: {@code auto} does not choose an engine without measurements. */
    private static final int PREFERENCE = 5;
    private static final int LEAST_CAPABILITY = 80;

    /** CUDA's major version without a driver: any library may be examined. */
    private static final int ANY_MAJOR = Integer.MAX_VALUE;

    private final Gpus gpus;
    private final CudaProducts products;

    public CudaEngineProvider() {
        this(DriverGpus.here());
    }

    CudaEngineProvider(Gpus gpus) {
        this(gpus, () -> CublasLt.at(CublasSearch.ofThisMachine().find(major(gpus))), CublasLt::at);
    }

    /**
     * A provider for other GPUs and libraries.
     *
     * @param found returns the cuBLASLt of the machine, or raises {@link IllegalStateException} with a sentence
     * @param named returns the cuBLASLt of a file, likewise
     */
    CudaEngineProvider(Gpus gpus, Supplier<CublasLt> found, Function<Path, CublasLt> named) {
        this.gpus = gpus;
        this.products = new CudaProducts(found, named, this::create);
    }

    private static int major(Gpus gpus) {
        return gpus.obstacle().isPresent() ? ANY_MAJOR : Integer.parseInt(gpus.version().replaceFirst("\\..*", ""));
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
    public boolean hasDevices() {
        return true;
    }

    @Override
    public List<Finding> findings() {
        return Stream.concat(gpus.findings().stream(), Stream.of(products.finding())).toList();
    }

    @Override
    public String description() {
        return gpus.obstacle().orElseGet(() -> "driver of CUDA " + gpus.version() + ", " + listed("; "));
    }

    private String listed(String separator) {
        return gpus.list().stream().map(Gpu::toString).collect(Collectors.joining(separator));
    }

    @Override
    public Optional<String> obstacle(Need need) {
        return switch (need) {
            case EngineSettings settings -> obstacle(settings);
            case Capability _ -> Optional.empty();
        };
    }

    private Optional<String> obstacle(EngineSettings settings) {
        return EngineProvider.unlessFloat32(KIND, settings)
                .or(() -> EngineProvider.unlessInexact(KIND, settings)).or(gpus::obstacle)
                .or(() -> obstacle(settings.device()));
    }

    private Optional<String> obstacle(DevicePick pick) {
        if (pick.ordinal().isPresent() && pick.ordinal().getAsInt() >= gpus.list().size()) {
            return Optional.of("engine.device = " + pick.ordinal().getAsInt()
                    + " names a GPU that is not there: the driver lists " + listed(", ")
                    + "; name one of these, or round-robin");
        }
        if (asked(pick).isEmpty()) {
            return Optional.of("the cuda engine needs compute capability 8.0, but "
                    + pick.ordinal().stream().mapToObj(ordinal -> "engine.device names " + gpus.list().get(ordinal))
                            .findFirst().orElseGet(() -> "the driver lists " + listed(", "))
                    + "; choose another GPU by engine.device or CUDA_VISIBLE_DEVICES, or take the engine nd4j or cpu");
        }
        return Optional.empty();
    }

    private List<Gpu> asked(DevicePick pick) {
        return gpus.list().stream()
                .filter(gpu -> gpu.capability() >= LEAST_CAPABILITY
                        && (pick.ordinal().isEmpty() || pick.ordinal().getAsInt() == gpu.ordinal()))
                .toList();
    }

    @Override
    public Optional<ProductLibraries> productLibraries() {
        return Optional.of(products);
    }

    @Override
    public CudaEngine create(EngineSettings settings) {
        List<Gpu> asked = asked(settings.device());
        Gpu gpu = asked.get(settings.device().turn() % asked.size());
        return new CudaEngine(gpus.open(gpu, Ptx::text), settings.computeType(),
                products.library(settings.products()));
    }
}
