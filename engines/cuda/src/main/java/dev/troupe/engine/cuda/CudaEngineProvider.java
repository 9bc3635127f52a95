package dev.troupe.engine.cuda;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.cuda.device.Device;
import dev.troupe.engine.cuda.driver.Gpus;
import dev.troupe.engine.provider.Capability;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.Need;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Opens {@link CudaEngine}s on the first GPU that the driver lists, which {@code CUDA_VISIBLE_DEVICES} chooses: of compute
 * capability 8.0 or later, in float32 with products of float32 or bfloat16.
 */
public final class CudaEngineProvider implements EngineProvider {
    /** The value of {@code engine.kind} for this engine. */
    public static final String KIND = "cuda";

    /** Below that of engines for processors: {@code auto} takes no engine that has not been measured yet. */
    private static final int PREFERENCE = 5;
    private static final int LEAST_CAPABILITY = 80;
    private static final int ORDINAL = 0;

    /** The GPU with the kernels compiled for it: opened once a process; null before. */
    private static Device opened;

    /** For {@link java.util.ServiceLoader}. */
    public CudaEngineProvider() {
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
        Gpus gpus = Gpus.here();
        return gpus.obstacle().orElseGet(() -> gpus.list().stream().map(Gpus.Gpu::toString).collect(
                Collectors.joining("; ", "driver of CUDA " + gpus.version() + ", ", "; own products, no cuBLASLt")));
    }

    @Override
    public Optional<String> obstacle(Need need) {
        return switch (need) {
            case EngineSettings settings -> obstacle(settings);
            case Capability _ -> Optional.empty();
        };
    }

    private static Optional<String> obstacle(EngineSettings settings) {
        if (settings.parameterType() != DataType.FLOAT32) {
            return Optional.of("the cuda engine computes in FLOAT32, not in " + settings.parameterType()
                    + "; set training.precision = float32, or take the engine reference or nd4j");
        }
        return Gpus.here().obstacle().or(() -> capabilityObstacle(Gpus.here().list()));
    }

    /** Why the first of these GPUs cannot run the kernels. */
    static Optional<String> capabilityObstacle(List<Gpus.Gpu> gpus) {
        Gpus.Gpu gpu = gpus.get(ORDINAL);
        return gpu.capability() >= LEAST_CAPABILITY
                ? Optional.empty()
                : Optional.of("the cuda engine needs compute capability 8.0, but found " + gpu
                        + "; choose another with CUDA_VISIBLE_DEVICES, or take the engine nd4j or cpu");
    }

    @Override
    public Engine create(EngineSettings settings) {
        return new CudaEngine(device(), settings.computeType());
    }

    private static synchronized Device device() {
        if (opened == null) {
            opened = Gpus.here().open(ORDINAL, Ptx.text());
        }
        return opened;
    }
}
