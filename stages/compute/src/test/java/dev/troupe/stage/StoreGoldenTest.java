package dev.troupe.stage;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.DataType;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.partition.Partition;
import dev.troupe.shard.StateTensor;
import dev.troupe.store.Consistency;
import dev.troupe.store.KeyRange;
import dev.troupe.store.ManagerMachine;
import dev.troupe.store.Party;
import dev.troupe.store.ServerFunction;
import dev.troupe.store.ServerMachine;
import dev.troupe.store.StoreLayout;
import dev.troupe.store.WorkerMachine;
import dev.troupe.store.lbfgs.LbfgsCoordinator;
import dev.troupe.store.lbfgs.ShardedVectors;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A model with weights that a store or L-BFGS updates, against PyTorch in float64. */
@Tag("parity")
class StoreGoldenTest {
    private static final double TOLERANCE = 1e-8;
    private static final int SERVERS = 3;
    private static final int SEGMENT_KEYS = 1000;

    /** The weights of one stage as one vector, in the order of names. */
    private record FlatStage(NaivePipeline pipeline) {
        double[] of(Function<Stage, List<StateTensor>> tensors) {
            return new TreeMap<>(pipeline.values(tensors)).values().stream().flatMapToDouble(Arrays::stream).toArray();
        }

        void load(double[] weights) {
            Map<String, double[]> parts = new TreeMap<>(pipeline.values(Stage::weights));
            int next = 0;
            for (Map.Entry<String, double[]> part : parts.entrySet()) {
                part.setValue(Arrays.copyOfRange(weights, next, next + part.getValue().length));
                next += part.getValue().length;
            }
            pipeline.stages.getFirst()
                    .load((name, shape, type, target) -> MemorySegment.copy(parts.get(name), 0, target,
                            ValueLayout.JAVA_DOUBLE_UNALIGNED, 0, parts.get(name).length));
        }

        /** Returns the loss of a step; its gradients become zero. */
        double gradients(int step, double[] gradients) {
            double loss = pipeline.gradients(step, Order.ALL_FORWARDS_FIRST).loss();
            System.arraycopy(of(Stage::gradients), 0, gradients, 0, gradients.length);
            pipeline.stages.getFirst().optimizerStep(0, 1, step + 1);
            return loss;
        }
    }

    /** Servers, a worker and a network without faults. */
    private static final class Store {
        private final WorkerMachine worker;
        private final Map<Integer, ServerMachine> servers = new TreeMap<>();
        private final Deque<Party.Sent> network = new ArrayDeque<>();

        Store(double[] weights, ServerFunction function) {
            StoreLayout layout = new StoreLayout(weights.length, SEGMENT_KEYS, 1, StoreLayout.USUAL_COPIES, 8);
            ManagerMachine manager = new ManagerMachine(layout, List.of(0, 1, 2));
            worker = new WorkerMachine(0, layout, Consistency.SEQUENTIAL);
            for (int id = 0; id < SERVERS; id++) {
                ServerMachine server = new ServerMachine(id, layout, function, Consistency.SEQUENTIAL);
                server.begin(range -> Arrays.copyOfRange(weights, (int) range.first(), (int) range.end()));
                servers.put(id, server);
            }
            servers.values().forEach(server -> network.addAll(server.onView(manager.view())));
            network.addAll(worker.onView(manager.view()));
            deliver();
        }

        /** A message that comes before its receiver has the view is sent again. */
        private void deliver() {
            do {
                while (!network.isEmpty()) {
                    Party.Sent sent = network.remove();
                    network.addAll(sent.to().kind() == Party.Kind.WORKER
                            ? worker.on(sent.message())
                            : servers.get(sent.to().number()).on(sent));
                }
                servers.values().forEach(server -> network.addAll(server.tick()));
                network.addAll(worker.tick());
            } while (!network.isEmpty());
        }

        double[] update(long time, double[] gradient) {
            KeyRange all = new KeyRange(0, gradient.length);
            network.addAll(worker.push(time, all, gradient));
            deliver();
            network.addAll(worker.pull(time + 1, all));
            deliver();
            return worker.pulled().orElseThrow();
        }
    }

    @Test
    void shouldTrainAsAdagradOfPyTorchDoes() {
        try (StageGolden golden = new StageGolden("adagrad", _ -> new Optimizer.Sgd(0));
                NaivePipeline pipeline = new NaivePipeline(golden, Partition.of(golden.model(), 1, "uniform"), 8)) {
            FlatStage flat = new FlatStage(pipeline);
            double[] weights = flat.of(Stage::weights);
            double[] squares = new double[weights.length];
            double[] gradients = new double[weights.length];
            Store store = new Store(weights, new ServerFunction.Adagrad(golden.learningRate, 1e-10));
            for (int step = 0; step < golden.steps; step++) {
                assertEquals(golden.losses[step], flat.gradients(step, gradients), TOLERANCE * golden.losses[step],
                        "loss of step " + step);
                for (int i = 0; i < gradients.length; i++) {
                    squares[i] += gradients[i] * gradients[i];
                }
                flat.load(store.update(step, gradients));
            }
            assertFinal(golden, pipeline, squares);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 5})
    void shouldMinimiseAsLbfgsOfPyTorchDoes(int shards) {
        try (StageGolden golden = new StageGolden("lbfgs", _ -> new Optimizer.Sgd(0));
                NaivePipeline pipeline = new NaivePipeline(golden, Partition.of(golden.model(), 1, "uniform"), 8)) {
            FlatStage flat = new FlatStage(pipeline);
            double[] weights = flat.of(Stage::weights);
            ShardedVectors vectors = ShardedVectors.of(weights.length, 64, shards);
            vectors.write(LbfgsCoordinator.PARAMETERS, weights);
            LbfgsCoordinator search = new LbfgsCoordinator(vectors, (all, gradient) -> {
                flat.load(all.read(LbfgsCoordinator.PARAMETERS));
                double[] gradients = new double[weights.length];
                double loss = flat.gradients(0, gradients);
                all.write(gradient, gradients);
                return loss;
            }, 5, LbfgsCoordinator.USUAL_CURVATURE, 1e-12);
            assertEquals(golden.losses[0], search.value(), TOLERANCE);
            for (int iteration = 1; iteration < golden.losses.length; iteration++) {
                search.iterate();
                assertEquals(golden.losses[iteration], search.value(), TOLERANCE * golden.losses[iteration],
                        "loss after iteration " + iteration);
            }
        }
    }

    /** Without keys' biases and weights with hardly any gradient: Adagrad makes whole steps of their rounding. */
    private static void assertFinal(StageGolden golden, NaivePipeline pipeline, double[] squares) {
        int next = 0;
        for (StateTensor named : new TreeMap<>(byName(pipeline)).values()) {
            double[] found = pipeline.values(_ -> List.of(named)).get(named.name());
            double[] expected = new double[found.length];
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment read = arena.allocate((long) found.length * Double.BYTES, Double.BYTES);
                golden.finalWeights.read(named.name(), named.tensor().shape(), DataType.FLOAT64, read);
                MemorySegment.copy(read, ValueLayout.JAVA_DOUBLE, 0, expected, 0, found.length);
            }
            for (int i = 0; i < found.length; i++) {
                boolean isKeyBias = named.name().endsWith("c_attn.bias") && i / (found.length / 3) == 1;
                if (!isKeyBias && squares[next] >= 1e-12) {
                    assertEquals(expected[i], found[i], Math.ulp((float) expected[i]) + TOLERANCE,
                            named.name() + "[" + i + "]");
                }
                next++;
            }
        }
    }

    private static Map<String, StateTensor> byName(NaivePipeline pipeline) {
        Map<String, StateTensor> byName = new TreeMap<>();
        pipeline.stages.getFirst().weights().forEach(named -> byName.put(named.name(), named));
        return byName;
    }
}
