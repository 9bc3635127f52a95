package dev.troupe.run;

import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.SafeTensorsWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
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
    private final int stageCount;
    private final List<NamedTensor> collected = new ArrayList<>();
    private int stagesDone;

    /**
     * @param step
     *            the step, from 0
     * @param file
     *            the safetensors file to write
     * @param stageCount
     *            how many stages will come
     */
    public GradientDump(long step, Path file, int stageCount) {
        this.step = step;
        this.file = file;
        this.stageCount = stageCount;
    }

    /** Whether the gradients of this step are wanted. */
    public boolean wants(long candidate) {
        return candidate == step;
    }

    /** Takes the gradients of one stage; the last stage's call writes the file. */
    public synchronized void add(Collection<NamedTensor> gradients) {
        for (NamedTensor gradient : gradients) {
            MemorySegment copy = Arena.ofAuto().allocate(gradient.byteCount(), gradient.type().elementBytes());
            gradient.values().copyTo(copy);
            collected.add(NamedTensor.of(gradient.name(), gradient.shape(), gradient.type(), copy));
        }
        stagesDone++;
        if (stagesDone == stageCount) {
            SafeTensorsWriter.write(file, Map.of("step", Long.toString(step)), collected);
            collected.clear();
        }
    }
}
