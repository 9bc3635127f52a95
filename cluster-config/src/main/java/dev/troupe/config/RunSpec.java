package dev.troupe.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigRenderOptions;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.fault.FaultSpec;
import dev.troupe.config.problem.ConfigException;
import dev.troupe.config.problem.Problem;
import dev.troupe.config.spec.DataSpec;
import dev.troupe.config.spec.EngineSpec;
import dev.troupe.config.spec.InvariantSpec;
import dev.troupe.config.spec.ModelSection;
import dev.troupe.config.spec.ObserveSpec;
import dev.troupe.config.spec.ParallelSpec;
import dev.troupe.config.spec.RecoverySpec;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.config.spec.TransportSpec;
import dev.troupe.config.value.ConfigText;
import dev.troupe.config.value.Sources;
import dev.troupe.config.value.Texts;
import dev.troupe.config.value.Values;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The validated configuration of a run: the values of its keys, and a record of each section. Immutable.
 *
 * <p>The records follow from the values, so that two runs with the same values are equal.
 */
public final class RunSpec {
    private final String name;
    private final ModelSection model;
    private final DataSpec data;
    private final TrainingSpec training;
    private final ParallelSpec parallel;
    private final InvariantSpec invariant;
    private final EngineSpec engine;
    private final TransportSpec transport;
    private final RecoverySpec recovery;
    private final ObserveSpec observe;
    private final Optional<ClusterSpec> cluster;
    private final List<FaultSpec> faults;
    private final Config values;

    /**
     * Reads a run.
     *
     * @param problems the problems so far; more are added
     * @throws ConfigException if there is any problem
     */
    RunSpec(Values values, List<Problem> problems) {
        name = values.text("name", Texts.NAME);
        Path from = values.path("model.from", Set.of(""));
        data = DataSpec.read(values, from);
        model = ModelSection.read(values, from, data);
        engine = EngineSpec.read(values);
        training = TrainingSpec.read(values, engine);
        parallel = ParallelSpec.read(values);
        transport = TransportSpec.read(values);
        recovery = RecoverySpec.read(values);
        observe = ObserveSpec.read(values);
        checkBatch(values);
        invariant = InvariantSpec.read(values, parallel, training,
                values.sound("training.global-batch-size", "training.microbatch-size", "parallel.data")
                        ? parallel.data() * microbatchCount()
                        : 0);
        model.checkTensor(values, parallel);
        ClusterReader nodes = new ClusterReader(values, engine);
        nodes.check(transport);
        nodes.check(parallel, training.precision());
        faults = List.copyOf(values.each("faults", "a list of faults, such as [\"exception stage=2 step=5\"]",
                FaultSpec::parse));
        values.settle("faults", texts(faults));
        if (!problems.isEmpty()) {
            throw new ConfigException(problems);
        }
        cluster = nodes.spec(name, parallel);
        this.values = values.effective();
    }

    private void checkBatch(Values values) {
        long divisor = (long) parallel.data() * training.microbatchSize();
        if (values.sound("training.global-batch-size", "training.microbatch-size", "parallel.data")
                && training.globalBatchSize() % divisor != 0) {
            long below = training.globalBatchSize() / divisor * divisor;
            values.report("training.global-batch-size",
                    "a multiple of parallel.data x training.microbatch-size = " + parallel.data() + " x "
                            + training.microbatchSize() + " = " + divisor,
                    "" + training.globalBatchSize(), "the nearest that fit are "
                            + (below == 0 ? divisor + " and " + 2 * divisor : below + " and " + (below + divisor)));
        }
    }

    private static List<String> texts(List<FaultSpec> faults) {
        return faults.stream().map(FaultSpec::text).toList();
    }

    /** Returns the name of the run: letters, digits, '.', '_' and '-'. */
    public String name() {
        return name;
    }

    public ModelSection model() {
        return model;
    }

    public DataSpec data() {
        return data;
    }

    public TrainingSpec training() {
        return training;
    }

    public ParallelSpec parallel() {
        return parallel;
    }

    public InvariantSpec invariant() {
        return invariant;
    }

    public EngineSpec engine() {
        return engine;
    }

    public TransportSpec transport() {
        return transport;
    }

    public RecoverySpec recovery() {
        return recovery;
    }

    public ObserveSpec observe() {
        return observe;
    }

    /** Returns the nodes that hold the ranks; empty: all ranks are in one JVM. */
    public Optional<ClusterSpec> cluster() {
        return cluster;
    }

    /** Returns the faults to inject; usually none. */
    public List<FaultSpec> faults() {
        return faults;
    }

    /**
     * Returns the same run with other values of some keys, checked as a whole.
     *
     * @param others texts, numbers, truth values, paths, durations or lists of these, by key without {@code troupe.}
     * @throws ConfigException if the values contradict each other
     */
    public RunSpec with(Map<String, ?> others) {
        return RunSpecReader.read(Sources.of(values, others));
    }

    /** Returns the value of {@code cluster.nodes}, for {@link #with(Map)}, with these nodes and ranks placed by rule. */
    public Map<String, Object> nodesWithoutRanks(List<String> names) {
        Map<String, Object> byName = new HashMap<>();
        values.getConfigList("cluster.nodes").forEach(
                node -> byName.put(node.getString("name"), node.withoutPath("ranks").root().unwrapped()));
        return Map.of("cluster.nodes", names.stream().map(byName::get).toList());
    }

    public RunSpec on(EngineSpec other) {
        return with(other.values());
    }

    public RunSpec with(List<FaultSpec> others) {
        return with(Map.of("faults", texts(others)));
    }

    /** Returns the same run without validation data. */
    public RunSpec onAllData() {
        return with(Map.of("data.validation-fraction", 0, "data.validation-path", ""));
    }

    /**
     * Returns the same run on one rank of one process, with the number of threads that each rank has here.
     *
     * @param cores the processors of this run's ranks, which they divide if the engine has no number of threads
     */
    public RunSpec onOneRank(int cores, String schedule) {
        return ofOneRank(schedule, Map.of("parallel.split-cool-down", false, "training.gradient-exchange", "float32",
                "engine.threads", engine.threads() > 0 ? engine.threads() : Math.max(1, cores / parallel.worldSize())))
                .unobserved();
    }

    /**
     * Returns the same run on a grid of one rank, without a cluster and faults.
     *
     * @param others values of further keys; they replace the values for one rank
     */
    public RunSpec ofOneRank(String schedule, Map<String, Object> others) {
        Map<String, Object> values = new HashMap<>(Map.of("parallel.pipeline", 1, "parallel.tensor", 1,
                "parallel.data", 1, "parallel.sequence", false, "parallel.virtual-stages", 1, "parallel.schedule",
                schedule, "parallel.layout", "uniform", "parallel.replicas", List.of(), "cluster.nodes", List.of(),
                "faults", List.of()));
        values.put("parallel.expert", 1);
        values.put("parallel.sharding", "");
        values.putAll(others);
        return with(values);
    }

    /** Returns the same run without observers. */
    public RunSpec unobserved() {
        return with(Map.of("observe.port", 0, "observe.tensorboard", false, "observe.sample-tokens", 0));
    }

    /** Returns M, the microbatches per step of each pipeline: global batch / (data x microbatch size), exactly. */
    public int microbatchCount() {
        return training.globalBatchSize() / (parallel.data() * training.microbatchSize());
    }

    /** Returns the value of each key that takes effect, as JSON. */
    public Map<String, String> values() {
        Map<String, String> texts = new TreeMap<>();
        values.entrySet().forEach(
                entry -> texts.put(entry.getKey(), entry.getValue().render(ConfigRenderOptions.concise())));
        return texts;
    }

    /** Returns the run as a configuration file with the value of every key; reading it gives an equal run. */
    public String toHocon() {
        return ConfigText.of(values);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RunSpec run && values.equals(run.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return toHocon();
    }
}
