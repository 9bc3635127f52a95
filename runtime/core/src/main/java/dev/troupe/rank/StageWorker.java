package dev.troupe.rank;

import dev.troupe.config.fault.FaultPoint;
import dev.troupe.engine.Engine;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.rank.ActionResult;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.shard.StateTensor;
import dev.troupe.stage.Stage;
import dev.troupe.step.StageOps;
import dev.troupe.trace.RankTrace;
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
    private final RankTrace trace;
    private final StageOps ops;
    private final StepPoints points;
    private long lastNanos;

    StageWorker(Stage stage, Engine engine, RankResources rank, NodeContext node) {
        this.stage = stage;
        this.engine = engine;
        this.rank = rank;
        this.trace = rank.trace();
        this.ops = new StageOps(stage, engine, rank.clock(), node.plan(), rank.tensors());
        this.points = rank.tensors().points();
    }

    /** Does an action and hands its sends to the transport. */
    public ActionResult run(ActionRequest request) {
        long waited = rank.waitedNanos();
        long start = System.nanoTime();
        boolean isTraced = request.pass().kind() == Pass.Kind.TRAINING;
        if (isTraced) {
            trace.begins(request.action());
        }
        ActionResult result = points.around(request, () -> {
            ActionResult done = ops.perform(request.action(), request.pass(), request.update());
            if (request.action().kind() == Kind.UPDATE && rank.flips().areAsked()) {
                rank.flips().updated(engine, stage.weights().stream().map(StateTensor::tensor).toList());
            }
            return done;
        });
        if (isTraced) {
            trace.ended(rank.waitedNanos() - waited);
            if (tellsBits(request.action().kind())) {
                rank.bits().read();
            }
        }
        lastNanos = System.nanoTime() - start - (rank.waitedNanos() - waited);
        for (Action send : request.sends()) {
            points.at(FaultPoint.SEND, request.pass(), send);
            ops.send(send, request.pass());
        }
        return result;
    }

    /** Whether what the rank has recorded of its bits is told behind such an action. */
    private boolean tellsBits(Kind kind) {
        return kind == Kind.NORM || kind == Kind.SNAPSHOT || kind == rank.plan().endOfUpdate();
    }

    /** How long the last action took, without its sends and without waits for other ranks, in nanoseconds. */
    public long lastNanos() {
        return lastNanos;
    }

    /** Returns the rows that the message of a receive of the stage must have. */
    int rowsOf(Action receive, Pass pass) {
        return ops.rowsOf(receive, pass);
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
