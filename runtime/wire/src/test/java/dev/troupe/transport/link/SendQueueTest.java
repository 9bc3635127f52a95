package dev.troupe.transport.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.Fence;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.DropReason;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.PendingTransfer;
import dev.troupe.transport.frame.Frame;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class SendQueueTest {
    private final SendQueue queue = new SendQueue(2, rank -> rank / 2);
    private final Edge near = Samples.edge(0, 1);
    private final Edge nearToo = Samples.edge(1, 0);
    private final Edge far = Samples.edge(0, 2);
    private final Tensor tensor = Samples.zeros(48);

    private SendQueue.Outgoing message(int epoch, Edge edge, int microbatch) {
        return new SendQueue.Outgoing(new MessageId(epoch, 0, edge, microbatch), Samples.ENGINE, tensor, Fence.REACHED,
                0, null);
    }

    private SendQueue.Outgoing send(int epoch, Edge edge, int microbatch) {
        SendQueue.Outgoing message = message(epoch, edge, microbatch);
        assertTrue(queue.send(message));
        return message;
    }

    @Test
    void shouldHoldMessagesInOrderUntilThereIsCredit() {
        SendQueue.Outgoing first = send(0, near, 0);
        SendQueue.Outgoing second = send(0, near, 1);
        assertNull(queue.next(0));
        assertNull(queue.credit(near, 0, 1, 0));
        assertSame(first, queue.next(0));
        queue.finish(0, 0);
        assertNull(queue.next(0), "one credit, one message");
        assertNull(queue.credit(near, 0, 2, 0));
        assertSame(second, queue.next(0));
        queue.finish(0, 0);
        SendQueue.Outgoing third = send(0, near, 2);
        assertSame(third, queue.next(0), "a credit may come before its message");
    }

    @Test
    void shouldCountTheTimeForWhichAMessageHadNoCredit() {
        SendQueue.Outgoing first = send(0, near, 0);
        SendQueue.Outgoing second = send(0, near, 1);
        queue.credit(near, 0, 1, 30);
        queue.finish(0, 50);
        queue.credit(near, 0, 1, 57);
        assertEquals(30, first.creditNanos);
        assertEquals(7, second.creditNanos, "until 50 it waited for the message before it");
    }

    @Test
    void shouldNotLetOneEdgeHoldUpAnother() {
        send(0, near, 0);
        SendQueue.Outgoing other = send(0, nearToo, 0);
        SendQueue.Outgoing distant = send(0, far, 0);
        assertNull(queue.credit(nearToo, 0, 1, 0));
        assertNull(queue.credit(far, 0, 1, 0));
        assertSame(other, queue.next(0));
        assertSame(distant, queue.next(1));
    }

    @Test
    void shouldLetEdgesAlternate() {
        SendQueue.Outgoing one = send(0, near, 0);
        SendQueue.Outgoing two = send(0, nearToo, 0);
        queue.credit(near, 0, 1, 0);
        queue.credit(nearToo, 0, 1, 0);
        assertSame(one, queue.next(0));
        queue.passTurn(0);
        assertSame(two, queue.next(0));
        queue.passTurn(0);
        assertSame(one, queue.next(0));
    }

    @Test
    void shouldSendToTheNodeOfTheReceiverInTheNewEpoch() {
        int[] nodeOfRank = {0, 0, 1};
        var moving = new SendQueue(2, rank -> nodeOfRank[rank]);
        SendQueue.Outgoing before = message(0, far, 0);
        assertTrue(moving.send(before));
        assertNull(moving.credit(far, 0, 1, 0));
        assertSame(before, moving.next(1));
        assertNull(moving.credit(far, 1, 1, 0), "the receiver is ahead");
        nodeOfRank[2] = 0;
        List<SendQueue.Outgoing> back = new ArrayList<>();
        moving.epoch(1, back::add);
        assertEquals(List.of(before), back);
        assertNull(moving.next(1));
        SendQueue.Outgoing after = message(1, far, 0);
        assertTrue(moving.send(after));
        assertSame(after, moving.next(0));
        assertNull(moving.next(1), "not where it lived before");
    }

    @Test
    void shouldReturnMessagesOfAnEarlierEpoch() {
        send(0, near, 0);
        send(0, near, 1);
        queue.credit(near, 0, 1, 0);
        List<Integer> returned = new ArrayList<>();
        queue.epoch(1, message -> returned.add(message.id.microbatch()));
        assertEquals(List.of(0, 1), returned);
        assertNull(queue.next(0));
        assertFalse(queue.send(message(0, near, 2)));
        assertEquals(DropReason.OLD_EPOCH, queue.credit(near, 0, 1, 0));
    }

    @Test
    void shouldKeepCreditsOfAnEpochThatHasNotBegunHere() {
        send(0, near, 0);
        assertNull(queue.credit(near, 1, 1, 0));
        assertNull(queue.next(0), "a credit of another epoch is none");
        assertEquals(DropReason.OLD_EPOCH, queue.credit(near, 0, 1, 0));
        queue.epoch(1, message -> {
        });
        SendQueue.Outgoing message = send(1, near, 0);
        assertSame(message, queue.next(0));
    }

    @Test
    void shouldNumberTheMessagesOfAnEdgeAndEpoch() {
        queue.credit(near, 0, 2, 0);
        queue.credit(nearToo, 0, 1, 0);
        SendQueue.Outgoing first = send(0, near, 7);
        SendQueue.Outgoing other = send(0, nearToo, 7);
        queue.passTurn(0);
        queue.finish(0, 0);
        queue.finish(0, 0);
        SendQueue.Outgoing second = send(0, near, 3);
        assertEquals(List.of(0, 0, 1), List.of(first.number, other.number, second.number));
        queue.credit(near, 1, 2, 0);
        SendQueue.Outgoing early = send(1, near, 0);
        queue.epoch(1, _ -> {
        });
        assertSame(early, queue.next(0));
        queue.finish(0, 0);
        assertEquals(List.of(0, 1), List.of(early.number, send(1, near, 1).number), "from 0 again, in every epoch");
    }

    @Test
    void shouldRefuseCreditsBeyondAllMeasure() {
        assertNull(queue.credit(near, 0, Frame.MAX_CREDITS, 0));
        assertEquals(DropReason.BAD_FIELD, queue.credit(near, 0, 1, 0));
    }

    @Test
    void shouldListPendingTransfersTheLongestFirst() {
        queue.send(new SendQueue.Outgoing(Samples.id(near, 0), Samples.ENGINE, tensor, Fence.REACHED,
                30, null));
        queue.send(new SendQueue.Outgoing(Samples.id(near, 1), Samples.ENGINE, tensor, Fence.REACHED,
                40, null));
        var receives = new PostedReceives(2, rank -> rank / 2, null);
        receives.grant(new PostedReceives.Buffer(0, nearToo, Samples.ENGINE, tensor, Fence.REACHED, 10, null));
        List<PendingTransfer> pending = Diagnosis.of(queue, receives, 50);
        assertEquals(List.of(PendingTransfer.State.BUFFER_NOT_FILLED, PendingTransfer.State.SEND_WITHOUT_CREDIT),
                pending.stream().map(PendingTransfer::state).toList());
        assertEquals(List.of(40L, 20L), pending.stream().map(entry -> entry.waiting().toNanos()).toList());
        assertEquals(2, pending.getLast().count());
    }
}
