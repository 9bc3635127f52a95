package dev.troupe.stage;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.model.spec.Balance;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * The measurements of a stage: the losses of microbatches, if it has the head, and the squared sums of gradients. A forward
 * leaves its loss on the engine; the first read after a step's forwards copies all losses of that step to the host.
 *
 * <p>Thread rule: as for kernels.
 */
final class Measures implements AutoCloseable {
    private final Engine engine;
    private final int microbatchesPerStep;
    /** Blocks for a step's losses each: a pass over validation data, or over several steps, may need several. */
    private final List<EngineSums> blocks = new ArrayList<>();
    private final BitSet measured = new BitSet();
    /** By microbatch, the number of targets by which its loss is divided. */
    private double[] counted = {};
    /** The blocks to which forwards have written since they were read. */
    private final BitSet unread = new BitSet();
    private final EngineSums squaredSums;
    private final boolean isExact;
    /** By microbatch, the measures of experts in the last forwards; null for none. */
    private Balance.Measure[] experts = {};

    Measures(Engine engine, StageSettings settings, int parameters) {
        this.engine = engine;
        this.squaredSums = new EngineSums(engine, parameters);
        this.microbatchesPerStep = settings.microbatchesPerStep();
        this.isExact = settings.addsInTree();
    }

    /** Returns whether squared sums of gradients do not depend on the ranks that have parts of them. */
    boolean isExact() {
        return isExact;
    }

    EngineSums squaredSums() {
        return squaredSums;
    }

    /**
     * Returns the tensor in which the next forward of this microbatch writes the sum of its rows' losses, at {@link #index}.
     */
    Tensor lossOf(int microbatch, double targets) {
        while (microbatch >= counted.length) {
            blocks.add(new EngineSums(engine, microbatchesPerStep));
            counted = Arrays.copyOf(counted, counted.length + microbatchesPerStep);
        }
        counted[microbatch] = targets;
        measured.set(microbatch);
        unread.set(block(microbatch));
        return sums(microbatch).tensor();
    }

    private EngineSums sums(int microbatch) {
        return blocks.get(block(microbatch));
    }

    private int block(int microbatch) {
        return microbatch / microbatchesPerStep;
    }

    int index(int microbatch) {
        return microbatch % microbatchesPerStep;
    }

    boolean hasLoss(int microbatch) {
        return microbatch >= 0 && measured.get(microbatch);
    }

    /** Returns the loss of a microbatch's last forward; waits for the engine if forwards of its step have not been read. */
    double loss(int microbatch) {
        int block = block(microbatch);
        if (unread.get(block)) {
            blocks.get(block).read();
            unread.clear(block);
        }
        return sums(microbatch).get(index(microbatch)) / counted[microbatch];
    }

    void experts(int microbatch, Balance.Measure measure) {
        if (microbatch >= experts.length) {
            experts = Arrays.copyOf(experts, Math.max(microbatch + 1, microbatchesPerStep));
        }
        experts[microbatch] = measure;
    }

    /** Returns the measures of experts in a microbatch's last forward; null if the model has no experts. */
    Balance.Measure experts(int microbatch) {
        return microbatch < experts.length ? experts[microbatch] : null;
    }

    @Override
    public void close() {
        squaredSums.close();
        blocks.forEach(EngineSums::close);
    }
}
