package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.config.RunSpecReader;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.partition.Partition;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.run.CoordinatorOf;
import dev.troupe.shard.StateTensor;
import dev.troupe.stage.Stage;
import dev.troupe.stage.StageSettings;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * PipeDream's rule for stages on several ranks as a loop on one device, which knows nothing of plans: stage s with R ranks
 * has the version {@code max(0, k / R - w)} for microbatch k, and its update is
 * {@code W(t+1) = U(W(t), (g(tR) + ... + g(tR+R-1)) / R)} at R times the learning rate, where w is the ranks after its
 * first one, over R, rounded down.
 */
final class ReplicaLoop implements AutoCloseable {
    private final PreparedRun run;
    private final List<Integer> replicas;
    private final Engine engine;
    private final Stage whole;
    private final List<Stage> newest = new ArrayList<>();
    /** By stage, its versions. */
    private final List<List<Map<String, double[]>>> versions = new ArrayList<>();
    private final MicrobatchRows rows;

    ReplicaLoop(Path out, List<String> settings) {
        this.run = PreparedRun.of(
                new RunRequest(RunSpecReader.read(Optional.empty(), settings), new byte[1 << 12], out,
                        Optional.empty(), OptionalLong.empty()));
        this.replicas = run.spec().parallel().replicas();
        this.engine = run.engine().open();
        StageSettings one = run.plan().stageSettings();
        this.whole = Stage.create(engine, Partition.uniform(run.model(), 1), 0, one, run.start().weights());
        this.rows = new MicrobatchRows(one.rows(), one.separatesDocuments());
        for (int stage = 0; stage < replicas.size(); stage++) {
            newest.add(Stage.create(engine, run.plan().partition(), stage, one, run.start().weights()));
            versions.add(new ArrayList<>(List.of(values(newest.get(stage).weights()))));
        }
    }

    private int delay(int stage) {
        int behind = replicas.stream().skip(stage).mapToInt(Integer::intValue).sum() - 1;
        return behind / replicas.get(stage);
    }

    /** Trains, and asserts that a run did the same: its losses, its validation and its weights, to the bit. */
    void assertSameBits(Path found) {
        List<Double> losses = new ArrayList<>();
        int steps = run.spec().training().steps();
        List<Map<String, double[]>> sums = new ArrayList<>(replicas.stream().map(_ -> (Map<String, double[]>) null)
                .toList());
        for (int step = 0; step < steps; step++) {
            Map<String, double[]> read = new HashMap<>();
            for (int stage = 0; stage < replicas.size(); stage++) {
                int version = Math.max(0, step / replicas.get(stage) - delay(stage));
                read.putAll(versions.get(stage).get(version));
            }
            load(whole, read);
            run.batches().fillMicrobatch(step, 0, run.plan().stageSettings().microbatchSize(), rows);
            whole.forward(0, null, rows);
            whole.backward(0, null);
            losses.add(whole.loss(0));
            Map<String, double[]> gradients = values(whole.gradients());
            whole.skipStep();
            for (int stage = 0; stage < replicas.size(); stage++) {
                int place = step % replicas.get(stage);
                sums.set(stage, place == 0 ? gradients : sum(sums.get(stage), gradients));
                if (place == replicas.get(stage) - 1) {
                    update(stage, step, sums.get(stage));
                }
            }
        }
        assertArrayEquals(losses.stream().mapToDouble(Double::doubleValue).toArray(), RunFiles.metrics(found, "loss"));
        try (Checkpoint checkpoint = Checkpoint.open(found)) {
            for (int stage = 0; stage < replicas.size(); stage++) {
                for (StateTensor weight : newest.get(stage).weights()) {
                    double[] trained = new double[(int) weight.tensor().shape().elementCount()];
                    try (Arena arena = Arena.ofConfined()) {
                        MemorySegment bytes = arena.allocate(weight.tensor().byteCount(), Double.BYTES);
                        checkpoint.read(weight.name(), weight.tensor().shape(), weight.tensor().dataType(), bytes);
                        read(bytes, weight.tensor().dataType(), trained);
                    }
                    assertArrayEquals(values(List.of(weight)).get(weight.name()), trained, weight.name());
                }
            }
        }
    }

    private void update(int stage, int step, Map<String, double[]> sum) {
        Stage updated = newest.get(stage);
        int count = replicas.get(stage);
        for (StateTensor gradient : updated.gradients()) {
            write(gradient.tensor(), sum.get(gradient.name()));
        }
        updated.optimizerStep(CoordinatorOf.settings(run).learningRate().applyAsDouble(step) * count, 1.0 / count,
                step / count + 1L);
        versions.get(stage).add(values(updated.weights()));
        assertEquals(versions.get(stage).size() - 1, step / count + 1);
    }

    /** In the order of microbatches, rounded as the engine's type is. */
    private Map<String, double[]> sum(Map<String, double[]> first, Map<String, double[]> second) {
        Map<String, double[]> sum = new TreeMap<>();
        boolean isDouble = run.engine().settings().parameterType() == DataType.FLOAT64;
        first.forEach((name, values) -> {
            double[] both = new double[values.length];
            for (int i = 0; i < both.length; i++) {
                both[i] = values[i] + second.get(name)[i];
                both[i] = isDouble ? both[i] : (float) both[i];
            }
            sum.put(name, both);
        });
        return sum;
    }

    private void load(Stage stage, Map<String, double[]> weights) {
        for (StateTensor weight : stage.weights()) {
            write(weight.tensor(), weights.get(weight.name()));
        }
    }

    private void write(Tensor tensor, double[] values) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(tensor.byteCount(), Double.BYTES);
            for (int i = 0; i < values.length; i++) {
                if (tensor.dataType() == DataType.FLOAT64) {
                    bytes.setAtIndex(ValueLayout.JAVA_DOUBLE, i, values[i]);
                } else {
                    bytes.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) values[i]); // it was one
                }
            }
            engine.copyFromHost(bytes, tensor, 0);
        }
    }

    private Map<String, double[]> values(List<StateTensor> tensors) {
        Map<String, double[]> all = new TreeMap<>();
        for (StateTensor named : tensors) {
            double[] values = new double[(int) named.tensor().shape().elementCount()];
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment bytes = arena.allocate(named.tensor().byteCount(), Double.BYTES);
                engine.copyToHost(named.tensor(), 0, bytes);
                read(bytes, named.tensor().dataType(), values);
            }
            all.put(named.name(), values);
        }
        return all;
    }

    private static void read(MemorySegment bytes, DataType type, double[] values) {
        for (int i = 0; i < values.length; i++) {
            values[i] = type == DataType.FLOAT64
                    ? bytes.getAtIndex(ValueLayout.JAVA_DOUBLE, i)
                    : bytes.getAtIndex(ValueLayout.JAVA_FLOAT, i);
        }
    }

    @Override
    public void close() {
        newest.forEach(Stage::close);
        whole.close();
        engine.close();
        run.close();
    }
}
