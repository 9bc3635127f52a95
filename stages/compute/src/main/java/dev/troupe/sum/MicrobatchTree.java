package dev.troupe.sum;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * A sum of some gradients over the microbatches of a rank by a balanced binary tree: neighbours first, then neighbouring
 * pairs, and so on. Microbatches may come in ascending or in descending order: both give the same bits, since an addition of
 * two numbers does not depend on their order.
 *
 * <p>For n microbatches it holds log2 n sums that wait for their neighbour, each as large as the gradients.
 *
 * <p>Thread rule: the stage's thread.
 */
public final class MicrobatchTree {
    private final Engine engine;
    private final int leaves;
    private final List<Tensor> gradients;
    /** By the logarithm of their microbatches, the sums that wait for their neighbour. */
    private final List<List<Tensor>> waiting = new ArrayList<>();
    private int added;

    /**
     * Creates a tree.
     *
     * @param leaves the microbatches of the rank in a step, a power of two
     * @param gradients the tensors in which each microbatch leaves its gradients
     * @param roomLike returns a tensor like another one
     */
    public MicrobatchTree(Engine engine, int leaves, List<Tensor> gradients, UnaryOperator<Tensor> roomLike) {
        if (Integer.bitCount(leaves) != 1) {
            throw new IllegalArgumentException(
                    "a balanced tree has a power of two of microbatches, but found " + leaves);
        }
        this.engine = engine;
        this.leaves = leaves;
        this.gradients = List.copyOf(gradients);
        for (int level = 0; level < Integer.numberOfTrailingZeros(leaves); level++) {
            waiting.add(this.gradients.stream().map(roomLike).toList());
        }
    }

    /**
     * Adds the gradients of the next microbatch.
     *
     * @return whether it was the step's last, so that the tensors have the sum; otherwise they must be
     *     made {@link #zero} for the next
     */
    public boolean add() {
        int level = 0;
        for (int pairs = added; (pairs & 1) == 1; pairs >>= 1) {
            for (int i = 0; i < gradients.size(); i++) {
                engine.add(waiting.get(level).get(i), gradients.get(i), gradients.get(i));
            }
            level++;
        }
        if (++added == leaves) {
            added = 0;
            return true;
        }
        for (int i = 0; i < gradients.size(); i++) {
            engine.copy(gradients.get(i), waiting.get(level).get(i));
        }
        return false;
    }

    /** Makes the gradients zero. */
    public void zero() {
        gradients.forEach(gradient -> engine.fill(gradient, 0));
    }

    /** Returns the bytes of the sums that wait. */
    public long bytes() {
        return waiting.stream().flatMap(List::stream).mapToLong(Tensor::byteCount).sum();
    }
}
