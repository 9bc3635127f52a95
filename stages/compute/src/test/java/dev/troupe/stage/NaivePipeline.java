package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.offload.StateValues;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.TensorShare;
import dev.troupe.partition.Partition;
import dev.troupe.protocol.run.GlobalNorm;
import dev.troupe.protocol.run.LayerSquaredSum;
import dev.troupe.shard.StateTensor;
import dev.troupe.stage.Order.Work;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** All stages of a golden run in one thread, each on an engine of its own; tensors cross borders through host memory. */
final class NaivePipeline implements Training, AutoCloseable {
    record StepResult(double loss, double norm) {
    }

    /** The share of each stage's rank. */
    @FunctionalInterface
    interface Shares {
        TensorShare of(int stage, Engine engine);

        /** Returns the ranks that have the same share. */
        default DataShare data(Engine engine) {
            return DataShare.ALL;
        }

        default Replay replay() {
            return Replay.INSIDE;
        }

        default Engine engine(DataType parameterType) {
            return new ReferenceEngine(parameterType);
        }

        /** Returns whether stages receive which backward is the step's last. */
        default boolean tellsLast() {
            return true;
        }
    }

    private final StageGolden golden;
    private final int microbatchSize;
    private final int microbatches;
    private final int firstMicrobatch;
    private final boolean tellsLast;
    private final boolean replaysAhead;
    private final List<Engine> engines = new ArrayList<>();
    final List<Stage> stages = new ArrayList<>();
    final int[] peakActivations;

    // The tensors that have crossed the border towards a stage and wait for it, by microbatch.
    private final List<Map<Integer, Tensor>> activations = new ArrayList<>();
    private final List<Map<Integer, Tensor>> gradients = new ArrayList<>();

    NaivePipeline(StageGolden golden, Partition partition, int microbatchSize) {
        this(golden, partition, microbatchSize, golden.initial, Recompute.NONE, DropoutSettings.NONE);
    }

    NaivePipeline(StageGolden golden, Partition partition, int microbatchSize, WeightSource source) {
        this(golden, partition, microbatchSize, source, Recompute.NONE, DropoutSettings.NONE);
    }

    NaivePipeline(StageGolden golden, Partition partition, int microbatchSize, WeightSource source, Recompute recompute,
            DropoutSettings dropout) {
        this(golden, partition, microbatchSize, source, recompute, dropout, DataType.FLOAT64,
                (stage, engine) -> TensorShare.ALL);
    }

    NaivePipeline(StageGolden golden, Partition partition, int microbatchSize, WeightSource source, Recompute recompute,
            DropoutSettings dropout, DataType parameterType, Shares shares) {
        this.golden = golden;
        this.microbatchSize = microbatchSize;
        int allMicrobatches = golden.batchSize / microbatchSize;
        TensorGroup holders = shares.data(null).group();
        this.microbatches = allMicrobatches / holders.size();
        this.firstMicrobatch = holders.rank() * microbatches;
        this.tellsLast = shares.tellsLast();
        this.replaysAhead = shares.replay().ahead() > 0;
        this.peakActivations = new int[partition.stageCount()];
        StageSettings settings = new StageSettings(microbatchSize, golden.sequenceLength, allMicrobatches,
                golden.optimizer, recompute, dropout).with(shares.replay());
        for (int stage = 0; stage < partition.stageCount(); stage++) {
            Engine engine = shares.engine(parameterType);
            engines.add(engine);
            stages.add(Stage.create(engine, partition, stage, settings, shares.of(stage, engine),
                    shares.data(engine), source));
            activations.add(new HashMap<>());
            gradients.add(new HashMap<>());
        }
    }

    long allocatedBytes() {
        return engines.stream().mapToLong(Engine::allocatedBytes).sum();
    }

    /** Runs a whole step, update included. */
    StepResult step(int step, Order order) {
        StepResult result = gradients(step, order);
        update(step, result);
        return result;
    }

    /** Runs a step up to its update. */
    @Override
    public StepResult gradients(int step, Order order) {
        stages.forEach(stage -> stage.enterStep(step, firstMicrobatch));
        run(step, order);
        reduceTied();
        stages.forEach(Stage::addUpGradients);
        List<LayerSquaredSum> sums = new ArrayList<>();
        stages.reversed().forEach(stage -> stage
                .squaredSums((block, part, sum) -> sums.add(new LayerSquaredSum(block, part, sum))));
        return new StepResult(meanLoss(), GlobalNorm.of(sums));
    }

    /** Runs the update of a step; there are no gradients after it. */
    @Override
    public void update(int step, StepResult result) {
        double scale = GlobalNorm.clipCoefficient(result.norm(), golden.gradientClip);
        stages.forEach(stage -> {
            stage.optimizerStep(golden.learningRate, scale, step + 1);
            stage.unshard();
        });
    }

    double validationLoss(int step) {
        for (int microbatch = 0; microbatch < microbatches; microbatch++) {
            for (int index = 0; index < stages.size(); index++) {
                Tensor output = stages.get(index).forwardOnly(microbatch, activations.get(index).remove(microbatch),
                        rows(step, microbatch));
                if (output != null) {
                    cross(index, index + 1, output, activations, microbatch);
                }
            }
        }
        return meanLoss();
    }

    private double meanLoss() {
        double sum = 0;
        for (int microbatch = 0; microbatch < microbatches; microbatch++) {
            sum += stages.getLast().loss(microbatch);
        }
        return sum / microbatches;
    }

    private void run(int step, Order order) {
        List<List<Work>> rows = new ArrayList<>();
        for (int index = 0; index < stages.size(); index++) {
            rows.add(new ArrayList<>(replaysAhead
                    ? order.replaying(index, stages.size(), microbatches)
                    : order.row(index, stages.size(), microbatches)));
        }
        boolean moved = true;
        while (moved) {
            moved = false;
            for (int index = 0; index < stages.size(); index++) {
                while (!rows.get(index).isEmpty() && ready(index, rows.get(index).getFirst())) {
                    Work work = rows.get(index).removeFirst();
                    if (tellsLast && work.kind().isForWeights()
                            && rows.get(index).stream().noneMatch(left -> left.kind().isForWeights())) {
                        stages.get(index).lastBackwardFollows();
                    }
                    work(step, index, work);
                    peakActivations[index] = Math.max(peakActivations[index], stages.get(index).liveActivations());
                    moved = true;
                }
            }
        }
        if (rows.stream().anyMatch(row -> !row.isEmpty())) {
            throw new IllegalStateException("the rows of a test wait for each other: " + rows);
        }
    }

    private boolean ready(int index, Work work) {
        return switch (work.kind()) {
            case FORWARD -> index == 0 || activations.get(index).containsKey(work.microbatch());
            case INPUT_GRADIENT, BOTH_GRADIENTS ->
                index == stages.size() - 1 || gradients.get(index).containsKey(work.microbatch());
            case REPLAY, WEIGHT_GRADIENT -> true;
        };
    }

    private void work(int step, int index, Work work) {
        Stage stage = stages.get(index);
        int microbatch = work.microbatch();
        switch (work.kind()) {
            case FORWARD -> {
                Tensor output = stage.forward(microbatch, activations.get(index).remove(microbatch),
                        rows(step, microbatch));
                if (output != null) {
                    cross(index, index + 1, output, activations, microbatch);
                }
            }
            case REPLAY -> stage.recompute(microbatch);
            case INPUT_GRADIENT -> {
                Tensor gradient = stage.backwardInput(microbatch, gradients.get(index).remove(microbatch));
                if (gradient != null) {
                    cross(index, index - 1, gradient, gradients, microbatch);
                }
            }
            case BOTH_GRADIENTS -> {
                Tensor gradient = stage.backward(microbatch, gradients.get(index).remove(microbatch));
                if (gradient != null) {
                    cross(index, index - 1, gradient, gradients, microbatch);
                }
            }
            case WEIGHT_GRADIENT -> stage.backwardWeight(microbatch);
        }
    }

    private void cross(int from, int to, Tensor tensor, List<Map<Integer, Tensor>> arrived, int microbatch) {
        Tensor landed = stages.get(to).boundary().take();
        copy(from, tensor, to, landed);
        stages.get(from).boundary().release(tensor);
        arrived.get(to).put(microbatch, landed);
    }

    private void copy(int from, Tensor tensor, int to, Tensor target) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(tensor.byteCount(), Double.BYTES);
            engines.get(from).copyToHost(tensor, 0, bytes);
            engines.get(to).copyFromHost(bytes, target, 0);
        }
    }

    private void reduceTied() {
        int last = stages.size() - 1;
        switch (stages.getFirst().tiedEnd()) {
            case BOTH -> stages.getFirst().tied().reduce();
            case EMBEDDING -> {
                Tensor headEnd = stages.getFirst().tied().takeGradient();
                Tensor embeddingEnd = stages.getLast().tied().takeGradient();
                copy(last, stages.getLast().tied().gradient(), 0, headEnd);
                copy(0, stages.getFirst().tied().gradient(), last, embeddingEnd);
                stages.getFirst().tied().add(headEnd);
                stages.getLast().tied().add(embeddingEnd);
                stages.getFirst().boundary().release(headEnd);
                stages.getLast().boundary().release(embeddingEnd);
            }
            case NONE -> {
            }
            case HEAD -> throw new IllegalStateException("the first stage cannot have the head end alone");
        }
    }

    private MicrobatchRows rows(int step, int microbatch) {
        return new MicrobatchRows(golden.tokens(step, firstMicrobatch + microbatch, microbatchSize, 0),
                golden.tokens(step, firstMicrobatch + microbatch, microbatchSize, 1));
    }

    /** Returns the values of some tensors of every stage by name, both copies of a tied table under one name if equal. */
    @Override
    public Map<String, double[]> values(Function<Stage, List<StateTensor>> tensors) {
        Map<String, double[]> values = new TreeMap<>();
        forEach(tensors, (named, read) -> {
            double[] known = values.putIfAbsent(named.name(), read);
            if (known != null && !(named.copy() && Arrays.equals(known, read))) {
                throw new AssertionError(named.name() + " is on two stages with different bits");
            }
        });
        return values;
    }

    /** Hands over some tensors of every stage with their values. */
    void forEach(Function<Stage, List<StateTensor>> tensors, BiConsumer<StateTensor, double[]> taker) {
        for (int index = 0; index < stages.size(); index++) {
            for (StateTensor named : tensors.apply(stages.get(index))) {
                taker.accept(named, read(index, named.values()));
            }
        }
    }

    private double[] read(int index, StateValues tensor) {
        double[] values = new double[(int) tensor.shape().elementCount()];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(tensor.byteCount(), Double.BYTES);
            tensor.copyToHost(engines.get(index), bytes);
            for (int i = 0; i < values.length; i++) {
                values[i] = tensor.dataType() == DataType.FLOAT32
                        ? bytes.getAtIndex(ValueLayout.JAVA_FLOAT, i)
                        : bytes.getAtIndex(ValueLayout.JAVA_DOUBLE, i);
            }
        }
        return values;
    }

    /** A small update changes the loss of a step by the gradient: both losses drop the same elements and halves. */
    void assertGradientOfLoss(int step) {
        double before = gradients(step, Order.ONE_FORWARD_ONE_BACKWARD).loss();
        Map<String, double[]> gradients = values(Stage::gradients);
        Map<String, double[]> weights = values(Stage::weights);
        stages.forEach(stage -> stage.optimizerStep(1e-5, 1, 1));
        double predicted = 0;
        for (Map.Entry<String, double[]> changed : values(Stage::weights).entrySet()) {
            double[] gradient = gradients.get(changed.getKey());
            double[] old = weights.get(changed.getKey());
            for (int i = 0; i < old.length; i++) {
                predicted += gradient[i] * (changed.getValue()[i] - old[i]);
            }
        }
        double after = gradients(step, Order.ONE_FORWARD_ONE_BACKWARD).loss();
        assertEquals(predicted, after - before, 1e-3 * Math.abs(predicted));
    }

    @Override
    public void close() {
        stages.forEach(Stage::close);
        long left = allocatedBytes();
        engines.forEach(Engine::close);
        if (left != 0) {
            throw new AssertionError("closed stages left " + left + " bytes to the engines");
        }
    }
}
