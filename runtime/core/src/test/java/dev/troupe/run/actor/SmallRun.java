package dev.troupe.run.actor;

import dev.troupe.batch.Batches;
import dev.troupe.batch.Order;
import dev.troupe.data.Corpus;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.late.WrappedEngine;
import dev.troupe.engine.provider.WorkClock;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.offload.StateStore;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.checkpoint.CheckpointStore;
import dev.troupe.rank.NodeContext;
import dev.troupe.rank.fault.FaultInjector;
import dev.troupe.rank.group.RankGroups;
import dev.troupe.rank.snapshot.CopyRoutes;
import dev.troupe.rank.snapshot.Snapshots;
import dev.troupe.rank.trace.Pauses;
import dev.troupe.tokenizer.Tokenizer;
import dev.troupe.transport.Transport;
import dev.troupe.weights.WeightSource;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/** A small model and its data, on the reference engine; whatever engine is opened is remembered. */
public final class SmallRun implements AutoCloseable {
    public static final ModelSpec MODEL = new Gpt2(2, 8, 2, 4, 256, true, Gpt2.NORM_EPSILON).spec();

    private final ConcurrentLinkedQueue<Engine> engines = new ConcurrentLinkedQueue<>();
    private final Corpus corpus = Corpus.ofText("a text",
            "To be, or not to be, that is the question.".getBytes(StandardCharsets.UTF_8),
            Tokenizer.named("bytes"));

    /** The parts that the ranks of a node share; without ranks, it warms up. */
    public NodeContext context(TrainingPlan plan, Transport transport, RankGroups groups, Optional<Snapshots> snapshots,
            Supplier<CheckedEngine> open, WeightSource weights, Path home) {
        return context(plan, transport, groups, snapshots, open, WorkClock.NONE, weights, home);
    }

    /** The same with a clock that receives the works. */
    public NodeContext context(TrainingPlan plan, Transport transport, RankGroups groups, Optional<Snapshots> snapshots,
            Supplier<CheckedEngine> open, WorkClock clock, WeightSource weights, Path home) {
        NodeContext.Devices devices = new NodeContext.Devices(_ -> {
            CheckedEngine engine = open.get();
            engines.add(engine);
            return engine;
        }, () -> clock, _ -> StateStore.NOTHING);
        return new NodeContext(plan, new NodeContext.Links(transport, groups), devices,
                new NodeContext.Start(weights, false, 0),
                new NodeContext.Data(new Batches(corpus.tokens(), Order.SEQUENTIAL, 1, 4, 8), Optional.empty()),
                new NodeContext.Recovery(snapshots, new CopyRoutes(), true),
                new CheckpointStore(home, MODEL, "", 0, 0), Optional.empty(), new Pauses(), FaultInjector.NONE);
    }

    public int enginesOpened() {
        return engines.size();
    }

    /** Of all engines that were opened. */
    public long allocatedBytes() {
        return engines.stream().mapToLong(Engine::allocatedBytes).sum();
    }

    public static CheckedEngine reference() {
        return new ReferenceEngine(DataType.FLOAT32);
    }

    /** The reference engine, but something happens whenever this method is called. */
    public static CheckedEngine with(String kernel, Runnable before) {
        return watched((name, _) -> {
            if (name.equals(kernel)) {
                before.run();
            }
        });
    }

    /** The reference engine, with a listener for each call before it. */
    static CheckedEngine watched(BiConsumer<String, Object[]> before) {
        Engine engine = reference();
        return new CheckedEngine(WrappedEngine.of((method, arguments) -> {
            before.accept(method.getName(), arguments);
            return WrappedEngine.call(engine, method, arguments);
        }));
    }

    @Override
    public void close() {
        corpus.close();
    }
}
