package dev.troupe.rank.bits;

import dev.troupe.weights.SafeTensorsWriter;
import dev.troupe.weights.SliceAssembly;
import dev.troupe.weights.TensorPart;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The gradients of one step before clipping, in a file for comparison with another program. A tied table has the sum of both
 * ends. Any thread.
 */
public final class GradientDump {
    private final long step;
    private final Path file;
    private final int writerCount;
    private final SliceAssembly collected = new SliceAssembly();
    private final Set<Writer> done = new HashSet<>();

    private record Writer(int rank, int stage) {
    }

    /**
     * @param step from 0
     * @param writerCount number of contributions: one for each stage of each rank
     */
    public GradientDump(long step, Path file, int writerCount) {
        this.step = step;
        this.file = file;
        this.writerCount = writerCount;
    }

    public boolean wants(long candidate) {
        return candidate == step;
    }

    /**
     * Adds a rank's part of the gradients of one stage; the last call writes the file. If a rank repeats the step, its
     * second part is ignored.
     */
    public synchronized void add(int rank, int stage, Collection<TensorPart> gradients) {
        if (!done.add(new Writer(rank, stage))) {
            return;
        }
        gradients.forEach(collected::add);
        if (done.size() == writerCount) {
            SafeTensorsWriter.write(file, Map.of("step", Long.toString(step)), collected.whole());
        }
    }
}
