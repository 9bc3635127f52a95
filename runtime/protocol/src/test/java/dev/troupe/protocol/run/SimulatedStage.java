package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.Pass;
import dev.troupe.protocol.WeightUpdate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The computation of a stage, with hashes for tensors: each is made of all inputs of the tensor, and gradients are added up
 * in order. So two runs have the same hashes only if they computed the same from the same, each thing once. If steps
 * overlap, the weights are several versions that share the bits, the newest in front.
 */
final class SimulatedStage {
    /** The step with gradients that overflow, if the loss is scaled. */
    static final long OVERFLOWING_STEP = 1;

    private final int index;
    private final int lastLayer;
    private final int firstLayer;
    /** The bits of a version of the weights. */
    private final int bits;
    private final long[] gradients = {0, 0};
    // By sum: the microbatches with gradients in it.
    private final List<Set<Integer>> added = List.of(new HashSet<>(), new HashSet<>());
    private long weights;
    // The version and the sum that calls use.
    private int updatesBehind;
    private int sum;
    // By microbatch.
    private final Map<Integer, Long> inputs = new HashMap<>();
    private final Map<Integer, Long> outputs = new HashMap<>();
    private final Map<Integer, Long> outputGradients = new HashMap<>();

    SimulatedStage(int index, int tensor, int firstLayer, int lastLayer, int versions) {
        this.index = index;
        this.firstLayer = firstLayer;
        this.lastLayer = lastLayer;
        this.bits = Long.SIZE / versions; // rounded down
        this.weights = mix(mix(0x5EED, index), tensor);
        long first = before(0);
        for (int version = 1; version < versions; version++) {
            weights = first << Long.SIZE - bits | weights >>> bits;
        }
    }

    /** Uses this version of the weights and this sum of gradients from now on. */
    void use(int behind, int sumOfGradients) {
        updatesBehind = behind;
        sum = sumOfGradients;
    }

    private long version() {
        return before(updatesBehind);
    }

    private long before(int updates) {
        return weights << updates * bits >>> Long.SIZE - bits;
    }

    static long mix(long left, long right) {
        long hash = (left ^ Long.rotateLeft(right * 0x9E3779B97F4A7C15L, 29)) * 0xBF58476D1CE4E5B9L;
        hash = (hash ^ hash >>> 31) * 0x94D049BB133111EBL;
        return hash ^ hash >>> 30;
    }

    private static double unit(long hash) {
        return (hash >>> 11) * 0x1p-53;
    }

    /** Returns the tokens of a microbatch of the whole step. */
    static long tokens(Pass pass, int microbatch) {
        return mix(mix(0x70CE, pass.number()), microbatch);
    }

    /** Returns the loss of the head's output. */
    static double loss(long output) {
        return 3 + unit(output);
    }

    /** Returns the gradient of the head's output. */
    static long lossGradient(Pass pass, long output) {
        return mix(output, Double.doubleToLongBits(pass.lossScale()));
    }

    /** Returns this share's part of the output of a microbatch, which has another number in its step if steps overlap. */
    long forward(Pass pass, int microbatch, int inStep, long input) {
        if (pass.kind() == Pass.Kind.TRAINING) {
            assertTrue(inputs.put(microbatch, input) == null, () -> "microbatch " + microbatch + " is here twice");
        }
        return mix(mix(mix(version(), input), index), inStep);
    }

    /** Returns this share's part of the output of a microbatch once more. */
    long replay(int microbatch, int inStep) {
        return mix(mix(mix(version(), inputs.get(microbatch)), index), inStep);
    }

    /** Keeps the output of a microbatch, to which all shares have contributed. */
    void keepOutput(int microbatch, long output) {
        outputs.put(microbatch, output);
    }

    long outputOf(int microbatch) {
        return outputs.get(microbatch);
    }

    /** Returns this share's part of the gradient of the input. */
    long backwardInput(int microbatch, long outputGradient) {
        assertTrue(outputGradients.put(microbatch, outputGradient) == null,
                () -> "a second gradient of microbatch " + microbatch);
        return mix(mix(outputGradient, outputOf(microbatch)), ~index);
    }

    void backwardWeight(int microbatch) {
        long input = inputs.remove(microbatch);
        long outputGradient = outputGradients.remove(microbatch);
        outputs.remove(microbatch);
        assertTrue(added.get(sum).add(microbatch),
                () -> "the gradient of microbatch " + microbatch + " is added twice");
        add(mix(mix(outputGradient, input), version()));
    }

    /** Takes the content of a repeated message once more. */
    void addAgain(long content) {
        add(content);
    }

    private void add(long contribution) {
        gradients[sum] = mix(gradients[sum], contribution);
    }

    long tiedGradient() {
        return mix(gradients[sum], 0x71ED);
    }

    void addTied(long other) {
        add(other);
    }

    long gradient() {
        return gradients[sum];
    }

    /** Sets the gradient to the sum over all pipelines. */
    void takeGradient(long ofAll) {
        gradients[sum] = ofAll;
    }

    int liveActivations() {
        return inputs.size();
    }

    /** Returns the squared sums of the gradients of all shares. */
    List<LayerSquaredSum> squaredSums(Pass pass, long ofAll) {
        List<LayerSquaredSum> sums = new ArrayList<>();
        for (int layer = firstLayer; layer <= lastLayer; layer++) {
            boolean overflows = pass.lossScale() != 1 && pass.step() == OVERFLOWING_STEP && layer == 0;
            sums.add(new LayerSquaredSum(layer, 0,
                    overflows ? Double.POSITIVE_INFINITY : unit(mix(ofAll, layer)) * pass.lossScale()));
        }
        return sums;
    }

    void update(WeightUpdate update) {
        long newest = before(0);
        if (!update.skipped()) {
            long how = mix(Double.doubleToLongBits(update.learningRate()),
                    Double.doubleToLongBits(update.gradientScale()));
            newest = mix(mix(mix(newest, gradients[sum]), how), update.updateNumber()) >>> Long.SIZE - bits;
        }
        weights = bits == Long.SIZE ? newest : newest << Long.SIZE - bits | weights >>> bits;
        gradients[sum] = 0;
        added.get(sum).clear();
    }

    long weights() {
        return weights;
    }

    void load(long snapshot) {
        weights = snapshot;
    }
}
