package dev.troupe.transport.link;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportListener;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A listener that keeps events until a test asks for them. */
class Ear implements TransportListener {
    private static final long PATIENCE_SECONDS = 30;

    final BlockingQueue<Heard> landed = new LinkedBlockingQueue<>();
    final BlockingQueue<Heard> sent = new LinkedBlockingQueue<>();
    final BlockingQueue<Tensor> returned = new LinkedBlockingQueue<>();
    final BlockingQueue<TransportFault> faults = new LinkedBlockingQueue<>();

    record Heard(MessageId id, Tensor tensor) {
    }

    @Override
    public void onLanded(MessageId id, Tensor tensor, int rows) {
        landed.add(new Heard(id, tensor));
    }

    @Override
    public void onSent(MessageId id, Tensor tensor, long creditNanos) {
        sent.add(new Heard(id, tensor));
    }

    @Override
    public void onReturned(Edge edge, Tensor tensor) {
        returned.add(tensor);
    }

    @Override
    public void onFault(TransportFault fault) {
        faults.add(fault);
    }

    /** The next element; fails when none comes. */
    static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T found = queue.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertNotNull(found, "nothing came within " + PATIENCE_SECONDS + " seconds");
        return found;
    }
}
