package dev.troupe.metrics;

import dev.troupe.look.observe.Observation;
import dev.troupe.look.output.ProcessMemory;
import dev.troupe.plan.memory.RankMemory;
import dev.troupe.plan.prepare.RunFacts;
import dev.troupe.protocol.StepResult;
import dev.troupe.rank.idle.MeasuredStep;
import dev.troupe.run.news.Recovery;
import dev.troupe.run.news.RunNews;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.search.Search;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.DoubleSupplier;

/** The meters of one run. Thread rule: as of an {@link Observation}; any thread reads the registry. */
final class RunMeters implements Observation {
    /** The states of a run, in their order. */
    enum State {
        /** The run waits for nodes, or its ranks prepare. */
        STARTING,
        /** Steps are trained. */
        TRAINING,
        /** Failed ranks restart. */
        RECOVERING,
        /** The run has ended, or another process leads it. */
        ENDED;

        String code() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The most remembered commits: a checkpoint written during training is complete some steps after its own. */
    private static final int MOST_COMMITS = 10_000;

    private final MeterRegistry registry;
    private final RunFacts run;
    private final Tags tags;
    private final StepMeters measured;
    private final Timer steps;
    private final Counter tokens;
    private final Counter skipped;
    private final Map<String, Counter> sent;
    private final Timer checkpoints;
    private final Counter failedCheckpoints;
    private final Timer recoveries;

    private volatile State state = State.STARTING;
    private volatile double loss = Double.NaN;
    private volatile double validationLoss = Double.NaN;
    private volatile double gradientNorm = Double.NaN;
    private volatile double learningRate = Double.NaN;
    private volatile double lossScale = Double.NaN;
    private volatile long stepsDone;
    private volatile int epoch;
    private final NavigableMap<Long, Long> committedNanos = new TreeMap<>();

    RunMeters(MeterRegistry registry, RunFacts run) {
        this.registry = registry;
        this.run = run;
        this.tags = Tags.of("run", run.name());
        this.stepsDone = run.firstStep();
        // Removes the gauges of an earlier run of the same name, which would read that run's object.
        Search.in(registry).name(name -> name.startsWith("troupe.")).tags(tags).gauges().forEach(registry::remove);
        gauge("troupe.training.loss", "Mean loss of the last step's global batch", () -> loss);
        gauge("troupe.validation.loss", "Mean loss over the validation data, when it was last measured",
                () -> validationLoss);
        gauge("troupe.training.gradient.norm", "Global norm of the last step's gradients before clipping",
                () -> gradientNorm);
        gauge("troupe.training.learning.rate", "Learning rate of the last step", () -> learningRate);
        gauge("troupe.training.loss.scale", "Factor of the loss before the backward of the last step",
                () -> lossScale);
        gauge("troupe.training.steps.done", "Committed optimizer steps, earlier processes of the run included",
                () -> stepsDone);
        gauge("troupe.training.steps.planned", "Optimizer steps at which the run ends", run::steps);
        gauge("troupe.epoch", "Incarnation of the pipeline: it grows by one at every recovery", () -> epoch);
        for (State one : State.values()) {
            gauge("troupe.state", "1 for the state that the run is in, 0 for the others",
                    Tags.of("state", one.code()), null, () -> state == one ? 1 : 0);
        }
        gauge("troupe.run.info", "Always 1; the labels describe the run",
                Tags.of("plan", run.plan(), "ranks", String.valueOf(run.memory().size())), null, () -> 1);
        run.memory().forEach(this::announce);
        gauge("troupe.process.resident", "Bytes of memory that the leading process takes, all its ranks together",
                Tags.empty(), "bytes", ProcessMemory::residentBytes);
        this.steps = Timer.builder("troupe.step").description("Wall time of committed steps").tags(tags)
                .publishPercentiles(0.5, 0.9, 0.99).register(registry);
        this.tokens = counter("troupe.tokens", "Tokens trained on", null, Tags.empty());
        this.skipped = counter("troupe.skipped.steps", "Steps with overflowing gradients, so that the weights remained",
                null, Tags.empty());
        String bytes = "Bytes of tensors that ranks sent, without headers and repetitions";
        this.sent = Map.of("pipeline", counter("troupe.sent", bytes, "bytes", Tags.of("group", "pipeline")), "tensor",
                counter("troupe.sent", bytes, "bytes", Tags.of("group", "tensor")), "data",
                counter("troupe.sent", bytes, "bytes", Tags.of("group", "data")));
        this.checkpoints = Timer.builder("troupe.checkpoint")
                .description("Time from the commit of a checkpoint's last step until the checkpoint is complete")
                .tags(tags).register(registry);
        this.failedCheckpoints = counter("troupe.failed.checkpoints", "Checkpoints that could not be written", null,
                Tags.empty());
        this.recoveries = Timer.builder("troupe.recovery")
                .description("Time from the detection of a failure until the restarted ranks have caught up").tags(tags)
                .register(registry);
        this.measured = new StepMeters(registry, tags, run.memory().size());
    }

    private void announce(RankMemory memory) {
        Map<String, Long> classes = Map.of("weights", memory.weights(), "gradients", memory.gradients(), "optimizer",
                memory.optimizer(), "activations", memory.activations(), "boundary", memory.boundary(), "snapshots",
                memory.snapshots(), "copies", memory.copies());
        classes.forEach((name, bytes) -> gauge("troupe.memory.announced",
                "Bytes of tensors that a rank takes at most, known before the run starts",
                Tags.of("rank", String.valueOf(memory.rank()), "class", name), "bytes", () -> bytes));
    }

    private void gauge(String name, String description, DoubleSupplier value) {
        gauge(name, description, Tags.empty(), null, value);
    }

    private void gauge(String name, String description, Tags more, String unit, DoubleSupplier value) {
        Gauge.builder(name, value, DoubleSupplier::getAsDouble).description(description).tags(tags.and(more))
                .baseUnit(unit).strongReference(true).register(registry);
    }

    private Counter counter(String name, String description, String unit, Tags more) {
        return Counter.builder(name).description(description).baseUnit(unit).tags(tags.and(more)).register(registry);
    }

    @Override
    public void on(RunNews news) {
        switch (news) {
            case RunNews.Started _ -> state = State.TRAINING;
            case RunNews.StepDone(StepResult result, double seconds) -> add(result, seconds);
            case RunNews.Measured(MeasuredStep step) -> measured.add(step);
            case RunNews.Validated(_, double ofLoss) -> validationLoss = ofLoss;
            case RunNews.CheckpointDone done -> {
                Long committed = committedNanos.get(done.stepsDone());
                if (committed != null) {
                    checkpoints.record(Duration.ofNanos(System.nanoTime() - committed));
                }
            }
            case RunNews.CheckpointFailed _ -> failedCheckpoints.increment();
            case RunNews.RecoveryBegun begun -> {
                epoch = begun.epoch();
                state = State.RECOVERING;
            }
            case RunNews.Recovered(Recovery recovery) -> {
                state = State.TRAINING;
                recoveries.record(Duration.ofMillis(recovery.caughtUpAtMillis() - recovery.detectedAtMillis()));
            }
            default -> {
                // no meter
            }
        }
    }

    private void add(StepResult result, double seconds) {
        stepsDone = result.step() + 1;
        committedNanos.put(stepsDone, System.nanoTime());
        if (committedNanos.size() > MOST_COMMITS) {
            committedNanos.pollFirstEntry();
        }
        loss = result.loss();
        gradientNorm = result.gradientNorm();
        learningRate = result.learningRate();
        lossScale = result.lossScale();
        steps.record(Duration.ofNanos(Math.round(seconds * 1e9)));
        tokens.increment(run.tokensPerStep());
        if (result.skipped()) {
            skipped.increment();
        }
        sent.get("pipeline").increment(result.traffic().pipeline());
        sent.get("tensor").increment(result.traffic().tensor());
        sent.get("data").increment(result.traffic().data());
    }

    @Override
    public void close() {
        state = State.ENDED;
    }
}
