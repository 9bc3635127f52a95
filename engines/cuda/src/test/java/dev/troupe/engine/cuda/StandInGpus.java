package dev.troupe.engine.cuda;

import dev.troupe.engine.cuda.device.Device;
import dev.troupe.engine.cuda.device.Gpus;
import dev.troupe.engine.provider.Finding;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** GPUs of an imaginary machine, on an interpreter of the kernels. */
final class StandInGpus implements Gpus {
    private final Device device;
    private final List<Gpu> gpus;
    private final List<Integer> opened = new ArrayList<>();

    StandInGpus(Gpu... gpus) {
        this(Interpreted.device(), gpus);
    }

    StandInGpus(Device device, Gpu... gpus) {
        this.device = device;
        this.gpus = List.of(gpus);
    }

    List<Integer> opened() {
        return opened;
    }

    @Override
    public List<Finding> findings() {
        return List.of();
    }

    @Override
    public Optional<String> obstacle() {
        return Optional.empty();
    }

    @Override
    public List<Gpu> list() {
        return gpus;
    }

    @Override
    public String version() {
        return "13.0";
    }

    @Override
    public Device open(Gpu gpu, Supplier<String> ptx) {
        opened.add(gpu.ordinal());
        return device;
    }
}
