package dev.troupe.run;

import dev.troupe.weights.SafeTensorsWriter;
import dev.troupe.weights.SliceAssembly;
import dev.troupe.weights.TensorPart;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;

/**
 * Writes the gradients of one step to a file, as they are before clipping: to compare Troupe with something else.
 * A tied table has the sum of both ends.
 *
 * <p>Thread rule: any thread; the stages of a step call it one after another or at once.
 */
public final class GradientDump {
    private final long step;
    private final Path file;
    private final int callCount;
    private final SliceAssembly collected = new SliceAssembly();
    private int callsDone;

    /**
     * @param step
     *            the step, from 0
     * @param file
     *            the safetensors file to write
     * @param callCount
     *            how many calls of {@link #add} will come: one from each rank for each of its stages
     */
    public GradientDump(long step, Path file, int callCount) {
        this.step = step;
        this.file = file;
        this.callCount = callCount;
    }

    /** Whether the gradients of this step are wanted. */
    public boolean wants(long candidate) {
        return candidate == step;
    }

    /** Takes what a rank has of the gradients of one stage; the last call writes the file. */
    public synchronized void add(Collection<TensorPart> gradients) {
        gradients.forEach(collected::add);
        callsDone++;
        if (callsDone == callCount) {
            SafeTensorsWriter.write(file, Map.of("step", Long.toString(step)), collected.whole());
        }
    }
}
