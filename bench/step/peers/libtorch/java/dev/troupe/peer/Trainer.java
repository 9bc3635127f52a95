package dev.troupe.peer;

import java.util.List;
import org.bytedeco.pytorch.Tensor;

/** Adds up the gradients of a step's microbatches. Thread rule: one thread. */
interface Trainer {
    /** The weights of this process. */
    List<Tensor> parameters();

    /** A parameter that another rank has too and counts in the norm; null if there is none. */
    Tensor secondCopy();

    /**
     * Runs all forwards and backwards of a step.
     *
     * @param inputs token ids of each microbatch [B x T]
     * @param targets those one further [B T]
     * @return the step's loss; NaN on a rank without the head
     */
    double accumulate(List<Tensor> inputs, List<Tensor> targets);

    /** Returns the norm over all ranks, given the norm of this rank's gradients. */
    Tensor globalNorm(Tensor norm);
}
