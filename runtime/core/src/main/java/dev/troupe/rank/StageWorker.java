package dev.troupe.rank;

import dev.troupe.config.fault.FaultPoint;
import dev.troupe.config.group.Coordinates;
import dev.troupe.engine.Engine;
import dev.troupe.protocol.Pass;
import dev.troupe.stage.Stage;
import dev.troupe.shard.StateTensor;
import dev.troupe.schedule.Action;
import dev.troupe.protocol.rank.ActionResult;
import dev.troupe.step.StageOps;
import dev.troupe.protocol.rank.StepOps;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.TensorPart;
import java.util.List;

/**
 * One stage with all that happens around its actions: faults, times, the trace.
 *
 * <p>Thread rule: the rank's thread.
 */
public final class StageWorker {
    private final Stage stage;
    private final Engine engine;
    private final RankResources rank;
    private final NodeContext node;
    private final Coordinates at;
    private final StageOps ops;
    private final StepPoints points;
    private long lastNanos;

    StageWorker(Stage stage, Engine engine, RankResources rank, NodeContext node) {
        this.stage = stage;
        this.engine = engine;
        this.rank = rank;
        this.node = node;
        this.at = node.plan().ranks().coordinates(rank.rank());
        this.ops = new StageOps(stage, engine, rank.clock(), node.plan(), rank.tensors());
        this.points = rank.tensors().points();
    }

    /** Does an action and hands its sends to the transport. */
    public ActionResult run(ActionRequest request) {
        long waited = rank.waitedNanos();
        long start = System.nanoTime();
        ActionResult result = points.around(request, () -> traced(request));
        lastNanos = System.nanoTime() - start - (rank.waitedNanos() - waited);
        for (Action send : request.sends()) {
            points.at(FaultPoint.SEND, request.pass(), send);
            ops.send(send, request.pass());
        }
        return result;
    }

    private ActionResult traced(ActionRequest request) {
        Pass pass = request.pass();
        if (pass.kind() != Pass.Kind.TRAINING || at.tensor() > 0 || at.data() > 0) {
            return perform(ops, request);
        }
        long start = System.nanoTime();
        ActionResult result = perform(ops, request);
        node.trace().add(pass.step(), at.pipeline(), request.action(), start, System.nanoTime());
        return result;
    }

    private static ActionResult perform(StepOps ops, ActionRequest request) {
        return ops.perform(request.action(), request.pass(), request.update());
    }

    /** How long the last action took, without its sends and without waits for other ranks, in nanoseconds. */
    public long lastNanos() {
        return lastNanos;
    }

    void grantFirstCredits() {
        ops.grantFirstCredits();
    }

    /** Weights and optimizer state as files have them, without what another rank writes too. */
    public List<TensorPart> state() {
        return parts(engine, stage.state());
    }

    /** Tensors of a stage as files have them, without what another rank writes too. */
    static List<TensorPart> parts(Engine engine, List<StateTensor> tensors) {
        return tensors.stream().filter(named -> !named.copy())
                .map(named -> new TensorPart(
                        new NamedTensor(named.name(), named.tensor().shape(), named.tensor().dataType(),
                                target -> engine.copyToHost(named.tensor(), 0, target)),
                        named.slice()))
                .toList();
    }
}
