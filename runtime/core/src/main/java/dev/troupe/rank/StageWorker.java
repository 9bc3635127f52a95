package dev.troupe.rank;

import dev.troupe.engine.Engine;
import dev.troupe.plan.step.StageOps;
import dev.troupe.plan.step.StepHook;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.rank.ActionResult;
import dev.troupe.rank.bits.BitRecorder;
import dev.troupe.rank.group.ExchangeThread;
import dev.troupe.rank.trace.RankTrace;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.shard.StateTensor;
import dev.troupe.stage.Stage;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.TensorPart;
import java.util.List;

/** One stage with the hooks around its actions: faults, times, the trace. Thread rule: the rank's thread. */
public final class StageWorker {
    private final Stage stage;
    private final Engine engine;
    private final StageOps ops;
    private final StepHook hook;
    private final RankTrace trace;
    private final BitRecorder bits;
    private final ExchangeThread exchanges;
    private final Kind endOfUpdate;
    private long lastNanos;

    /**
     * @param exchanges adds up the time that the stages of the rank wait for other ranks
     * @param endOfUpdate the kind of action after which the stage has the updated weights
     */
    StageWorker(Stage stage, Engine engine, StageOps ops, StepHook hook, RankTrace trace, BitRecorder bits,
            ExchangeThread exchanges, Kind endOfUpdate) {
        this.stage = stage;
        this.engine = engine;
        this.ops = ops;
        this.hook = hook;
        this.trace = trace;
        this.bits = bits;
        this.exchanges = exchanges;
        this.endOfUpdate = endOfUpdate;
    }

    /** Performs an action and hands its sends to the transport. */
    public ActionResult run(ActionRequest request) {
        Action action = request.action();
        Pass pass = request.pass();
        long waited = exchanges.waitedNanos();
        long start = System.nanoTime();
        boolean isTraced = pass.kind() == Pass.Kind.TRAINING;
        if (isTraced) {
            trace.begins(action);
        }
        ActionResult result = hook.around(action, pass, () -> {
            ActionResult done = ops.perform(action, pass, request.update());
            if (action.kind() == Kind.UPDATE) {
                hook.updated(stage, engine);
            }
            return done;
        });
        if (isTraced) {
            trace.ended(exchanges.waitedNanos() - waited);
            if (readsBits(action.kind())) {
                bits.read();
            }
        }
        lastNanos = System.nanoTime() - start - (exchanges.waitedNanos() - waited);
        for (Action send : request.sends()) {
            hook.sends(send, pass);
            ops.send(send, pass);
        }
        return result;
    }

    /** Whether digests are reported after an action of this kind, so that they are read from the engine with it. */
    private boolean readsBits(Kind kind) {
        return kind == Kind.NORM || kind == Kind.SNAPSHOT || kind == endOfUpdate;
    }

    /** Returns the duration of the last action in nanoseconds, without its sends and without waits for other ranks. */
    public long lastNanos() {
        return lastNanos;
    }

    int rowsOf(Action receive, Pass pass) {
        return ops.rowsOf(receive, pass);
    }

    /** Returns weights and optimizer state in file layout, without copies that another rank writes. */
    public List<TensorPart> state() {
        return parts(engine, stage.state());
    }

    /** Returns tensors in file layout, without copies that another rank writes. */
    static List<TensorPart> parts(Engine engine, List<StateTensor> tensors) {
        return tensors.stream().filter(named -> !named.copy())
                .map(named -> new TensorPart(
                        new NamedTensor(named.name(), named.values().shape(), named.values().dataType(),
                                target -> named.values().copyToHost(engine, target)),
                        named.slice()))
                .toList();
    }
}
