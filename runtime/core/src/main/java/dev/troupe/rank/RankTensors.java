package dev.troupe.rank;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.plan.step.RankSide;
import dev.troupe.plan.step.StepHook;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.rank.Outbox;
import dev.troupe.protocol.rank.RankMessages;
import dev.troupe.rank.trace.RankTrace;
import dev.troupe.schedule.Action;
import dev.troupe.stage.Stage;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The tensors of one rank between two stages: received and not yet used, or computed and not yet handed to the transport. A
 * tensor is filed by pass and action: a received one by its receive, a computed one by its send. Between stages of the same
 * rank it is filed by the receive.
 *
 * <p>Thread rule: the rank's thread; {@link #land}, {@link #discard} and {@link #send} on any thread.
 */
public final class RankTensors implements RankSide {
    private record Key(long pass, Action message) {
    }

    /** A tensor; the message fills its first rows. */
    private record Held(Tensor tensor, int rows) {
    }

    private final RankMessages messages;
    private final MicrobatchReader data;
    private final Engine engine;
    private final Outbox<Tensor> outbox;
    private final Boundaries boundaries;
    private final RankTrace trace;
    private final StepHook hook;
    private final Map<Key, Held> tensors = new ConcurrentHashMap<>();

    RankTensors(RankMessages messages, MicrobatchReader data, Engine engine, Outbox<Tensor> outbox,
            Boundaries boundaries, RankTrace trace, StepHook hook) {
        this.messages = messages;
        this.data = data;
        this.engine = engine;
        this.outbox = outbox;
        this.boundaries = boundaries;
        this.trace = trace;
        this.hook = hook;
    }

    /** Files a received message; returns false, and leaves it to the caller, if it is a duplicate. */
    boolean land(Action receive, long pass, Tensor tensor, int rows) {
        return tensors.putIfAbsent(new Key(pass, receive), new Held(tensor, rows)) == null;
    }

    /** Returns the buffer of an unwanted message to the transport. */
    public void discard(Action receive, long pass) {
        grant(receive, remove(receive, pass).tensor());
    }

    private Held remove(Action message, long pass) {
        Held held = tensors.remove(new Key(pass, message));
        if (held == null) {
            throw new IllegalStateException("the tensor of " + message + " is not here");
        }
        return held;
    }

    @Override
    public int rank() {
        return messages.rank();
    }

    @Override
    public MicrobatchRows read(int stage, Pass pass, int microbatch) {
        if (data.isReader()) {
            trace.reads(() -> {
                hook.reads(stage, pass, microbatch);
                data.read(pass, microbatch);
            });
        }
        return data.share(pass, microbatch);
    }

    @Override
    public int lengthOf(Pass pass, int microbatch) {
        return data.lengthOf(pass.kind(), pass.step(), microbatch);
    }

    @Override
    public Tensor take(Action receive, Pass pass, int rows) {
        if (receive.kind().isTransfer()) {
            hook.takes(receive, pass);
        }
        Held held = remove(receive, pass.number());
        if (held.rows() != rows) { // a checksum covers the header of a message, so its sender was wrong
            throw new IllegalStateException("the tensor of " + receive + " has " + held.rows() + " rows, but must have "
                    + rows);
        }
        return held.tensor();
    }

    @Override
    public void put(Action message, Pass pass, Tensor tensor) {
        Held held = new Held(tensor, tensor.shape().size(0));
        if (tensors.putIfAbsent(new Key(pass.number(), message), held) != null) {
            throw new IllegalStateException("the tensor of " + message + " is here already");
        }
    }

    @Override
    public void send(Action send, Pass pass) {
        Tensor tensor = remove(send, pass.number()).tensor();
        if (pass.kind() == Pass.Kind.TRAINING) {
            trace.handed(send, tensor.byteCount());
        }
        hook.leaves(send, pass, tensor, engine);
        outbox.send(messages.keyOf(send), tensor);
    }

    @Override
    public void grant(Action receive, Tensor buffer) {
        outbox.grant(messages.keyOf(receive).edge(), buffer);
    }

    @Override
    public void adopt(Stage by, int from, Tensor tensor) {
        boundaries.adopt(by, from, tensor);
    }

    @Override
    public void release(int stage, Tensor tensor) {
        boundaries.release(stage, tensor);
    }
}
