package dev.troupe.collective.peer;

import dev.troupe.wire.LogMemory;
import io.aeron.Subscription;
import io.aeron.logbuffer.ControlledFragmentHandler;
import io.aeron.logbuffer.ControlledFragmentHandler.Action;
import io.aeron.logbuffer.Header;
import org.agrona.DirectBuffer;

/** The frames from another member on a stream, handled in place. */
final class StreamSource implements Source {
    private final Subscription subscription;
    private final int from;
    private final Taker taker;
    private final SegmentFrame frame = new SegmentFrame();
    private final LogMemory memory = new LogMemory();
    private final ControlledFragmentHandler handler = this::onFragment;

    StreamSource(Subscription subscription, int from, Taker taker) {
        this.subscription = subscription;
        this.from = from;
        this.taker = taker;
    }

    private Action onFragment(DirectBuffer buffer, int offset, int length, Header header) {
        boolean isDone = !frame.wrap(buffer, offset, length) || taker.take(from, frame, memory.of(buffer),
                LogMemory.position(buffer, frame.payloadAt()), false);
        return isDone ? Action.CONTINUE : Action.ABORT;
    }

    @Override
    public boolean receive() {
        return subscription.controlledPoll(handler, 1) > 0;
    }

    @Override
    public boolean readAhead() {
        return false; // frames wait in the stream
    }

    @Override
    public void close() {
        subscription.close();
    }
}
