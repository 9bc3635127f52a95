package dev.troupe.engine.cpu;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.provider.EngineSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A process that runs steps of every kernel and prints a line for each leak. Its
 * argument is the type of the products.
 */
final class SteadyMemory {
    private static final EveryKernel.Sizes SIZES = new EveryKernel.Sizes(2, 70, 3, 24, 40, 37);
    private static final long MOST_GARBAGE = 8 * 1024;
    /** Bytes a step of resident memory: the garbage touches as much of a young heap before it is collected. */
    private static final long MOST_GROWTH = 12 * 1024;
    private static final int STEPS_TO_WARM_UP = 1000;
    private static final int CLEAN_WINDOWS = 3;
    private static final int MOST_WINDOWS = 15;
    private static final int STEPS_OF_WINDOW = 400;

    private SteadyMemory() {
    }

    public static void main(String[] arguments) throws IOException {
        EngineSettings settings = new EngineSettings(DataType.FLOAT32, DataType.valueOf(arguments[0]), 1);
        try (Engine engine = new CpuEngineProvider().open(settings);
                EveryKernel kernels = new EveryKernel(engine, SIZES, 1)) {
            warmUp(kernels);
            faults(engine, kernels).forEach(System.out::println);
        }
    }

    /** Until the vector kernels are compiled each of their operations makes objects. */
    private static void warmUp(EveryKernel kernels) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        Garbage.ofSteps(STEPS_TO_WARM_UP, kernels);
        while (Garbage.ofSteps(STEPS_OF_WINDOW / 2, kernels) > MOST_GARBAGE && System.nanoTime() < deadline) {
            continue;
        }
    }

    /**
     * Some windows have garbage and native memory of the compiler, which compiles again what it had compiled too early. A
     * leak is in each of them, so that as many clean ones as wanted never follow each other.
     */
    private static List<String> faults(Engine engine, EveryKernel kernels) throws IOException {
        List<String> faults = new ArrayList<>();
        long allocatedBytes = engine.allocatedBytes();
        long leastGrowth = Long.MAX_VALUE;
        int clean = 0;
        for (int window = 0; window < MOST_WINDOWS && clean < CLEAN_WINDOWS; window++) {
            long residentBytes = residentBytes();
            clean = Garbage.ofSteps(STEPS_OF_WINDOW, kernels) <= MOST_GARBAGE ? clean + 1 : 0;
            leastGrowth = Math.min(leastGrowth, residentBytes() - residentBytes);
        }
        if (clean < CLEAN_WINDOWS) {
            faults.add("of " + MOST_WINDOWS + " windows of steps no " + CLEAN_WINDOWS
                    + " that follow each other leave at most " + MOST_GARBAGE
                    + " bytes of garbage a step, on vectors of "
                    + Lanes.COUNT + " floats: " + Garbage.ofKernels(engine, kernels, STEPS_OF_WINDOW / 2));
        }
        long perStep = leastGrowth / STEPS_OF_WINDOW;
        if (perStep >= MOST_GROWTH) {
            faults.add("each step takes at least " + perStep + " bytes more of memory");
        }
        if (engine.allocatedBytes() != allocatedBytes) {
            faults.add("the engine had " + allocatedBytes + " bytes and has " + engine.allocatedBytes());
        }
        return faults;
    }

    private static long residentBytes() throws IOException {
        return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]) * 4096;
    }
}
