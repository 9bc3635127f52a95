package dev.troupe.transport.link;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.DropReason;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.frame.Frame;
import dev.troupe.transport.frame.FrameWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class PostedReceivesTest implements PostedReceives.Events {
    private final List<MessageId> landed = new ArrayList<>();
    private final List<Tensor> landedIn = new ArrayList<>();
    private final List<Tensor> returned = new ArrayList<>();
    private final List<DropReason> lost = new ArrayList<>();
    private final List<String> sentences = new ArrayList<>();
    private final List<String> damaged = new ArrayList<>();
    private final PostedReceives receives = new PostedReceives(1, rank -> 0, this);
    private final Frame frame = new Frame(true);
    private final Edge edge = Samples.edge(0, 1);
    private final Tensor message = Samples.random(1, 48);
    private int rows;

    @Override
    public void landed(MessageId id, Tensor tensor, int landedRows) {
        landed.add(id);
        landedIn.add(tensor);
        rows = landedRows;
    }

    @Override
    public void returned(Edge on, Tensor tensor) {
        returned.add(tensor);
    }

    @Override
    public void lost(Edge on, DropReason reason, String sentence) {
        lost.add(reason);
        sentences.add(sentence);
    }

    @Override
    public void damaged(int node, int rank, String why) {
        damaged.add("node " + node + ", rank " + rank);
    }

    private Tensor grant(Edge on, int... sizes) {
        Tensor buffer = Samples.zeros(sizes);
        grant(on, Samples.ENGINE, buffer);
        return buffer;
    }

    private void grant(Edge on, Engine engine, Tensor buffer) {
        assertTrue(receives.grant(new PostedReceives.Buffer(0, on, engine, buffer, Fence.REACHED, 0, null)));
    }

    private DropReason land(int microbatch, long offset, int length) {
        return land(Samples.fragment(Samples.id(edge, microbatch), message, offset, length));
    }

    private DropReason land(UnsafeBuffer bytes) {
        assertNull(frame.read(bytes, 0, bytes.capacity()));
        return receives.land(frame);
    }

    @Test
    void shouldPutFragmentsTogether() {
        Tensor buffer = grant(edge, 48);
        assertNull(land(0, 0, 64));
        assertNull(land(0, 64, 64));
        assertEquals(List.of(), landed);
        assertNull(land(0, 128, 64));
        assertEquals(List.of(Samples.id(edge, 0)), landed);
        assertArrayEquals(Samples.bytes(message), Samples.bytes(buffer));
    }

    @Test
    void shouldFillBuffersInTheOrderOfTheirGrants() {
        List<Tensor> buffers = List.of(grant(edge, 48), grant(edge, 48));
        assertNull(land(3, 0, 192));
        assertNull(land(2, 0, 192));
        assertEquals(List.of(3, 2), landed.stream().map(MessageId::microbatch).toList());
        assertEquals(buffers, landedIn);
    }

    @Test
    void shouldDropAMessageWithoutABuffer() {
        assertEquals(DropReason.NO_BUFFER, land(0, 0, 64));
        assertEquals(DropReason.OUT_OF_ORDER, land(0, 64, 64));
        assertEquals(List.of(DropReason.NO_BUFFER), lost, "one fault a message");
        grant(edge, 48);
        assertNull(land(1, 0, 192));
        assertEquals(DropReason.NO_BUFFER, land(2, 0, 192), "never more than granted");
    }

    @Test
    void shouldDropAMessageThatDoesNotFitItsBuffer() {
        Tensor buffer = grant(edge, 6, 8);
        assertEquals(DropReason.WRONG_SHAPE, land(0, 0, 192));
        assertArrayEquals(new byte[192], Samples.bytes(buffer));
        assertEquals(List.of(DropReason.WRONG_SHAPE), lost);
    }

    @Test
    void shouldReportTheRowsOfAMessageThatIsShorterThanItsBuffer() {
        Tensor buffer = grant(edge, 60);
        assertNull(land(2, 0, 64));
        assertNull(land(2, 64, 128));
        assertEquals(List.of(buffer), landedIn);
        assertEquals(48, rows);
        assertArrayEquals(Samples.bytes(message), Arrays.copyOf(Samples.bytes(buffer), 192));
        grant(edge, 48);
        assertNull(land(3, 0, 192));
        assertEquals(48, rows);
    }

    @Test
    void shouldDropAMessageWithMoreRowsThanItsBuffer() {
        Tensor buffer = grant(edge, 47);
        assertEquals(DropReason.WRONG_SHAPE, land(0, 0, 192));
        assertArrayEquals(new byte[188], Samples.bytes(buffer));
        assertEquals(List.of(DropReason.WRONG_SHAPE), lost);
    }

    @Test
    void shouldNoticeALostFragmentAndUseTheBufferForTheNextMessage() {
        Tensor buffer = grant(edge, 48);
        assertNull(land(0, 0, 64));
        assertEquals(DropReason.OUT_OF_ORDER, land(0, 128, 64));
        assertEquals(List.of(DropReason.OUT_OF_ORDER), lost);
        assertNull(land(1, 0, 192));
        assertEquals(List.of(buffer), landedIn);
    }

    @Test
    void shouldNoticeALostEndWhenTheNextMessageBegins() {
        grant(edge, 48);
        assertNull(land(0, 0, 64));
        assertNull(land(1, 0, 192));
        assertEquals(List.of(DropReason.OUT_OF_ORDER), lost);
        assertEquals(List.of(Samples.id(edge, 1)), landed);
    }

    @Test
    void shouldNoticeMessagesThatAreMissingByTheNext() {
        List<Tensor> buffers = List.of(grant(edge, 48), grant(edge, 48));
        assertNull(land(0, 0, 192));
        assertNull(land(3, 0, 64));
        assertEquals(
                List.of("2 of the messages from " + edge + " in epoch 0 did not come: number 3 is there, and before it"
                        + " number 1 was expected"),
                sentences);
        assertNull(land(3, 64, 128));
        assertEquals(buffers, landedIn, "every message is taken");
        grant(edge, 48);
        assertNull(land(4, 0, 192));
        assertEquals(1, lost.size(), "told once");
    }

    @Test
    void shouldNoticeThatTheFirstIsMissingInEveryEpoch() {
        grant(edge, 48);
        assertNull(land(1, 0, 192));
        receives.epoch(1);
        assertTrue(
                receives.grant(
                        new PostedReceives.Buffer(1, edge, Samples.ENGINE, Samples.zeros(48), Fence.REACHED, 0, null)));
        assertNull(land(Samples.fragment(new MessageId(1, 5, edge, 1), message, 0, 192)));
        assertEquals(2, lost.size());
    }

    @Test
    void shouldTakeMessagesThatAreRepeatedOrOvertakenInOrder() {
        int[] numbers = {0, 1, 2};
        int[] microbatches = {1, 0, 0};
        for (int index = 0; index < numbers.length; index++) {
            grant(edge, 48);
            UnsafeBuffer bytes = Samples.buffer(FrameWriter.FRAGMENT_HEADER_BYTES + 192);
            Samples.write(new FrameWriter(true), bytes, Samples.id(edge, microbatches[index]), numbers[index], message,
                    0, 192);
            assertNull(land(bytes));
        }
        assertEquals(List.of(1, 0, 0), landed.stream().map(MessageId::microbatch).toList());
        assertEquals(List.of(), lost);
    }

    @Test
    void shouldReportDamageOnceAnEpochToRanksThatWaitForTheNode() {
        var book = new PostedReceives(2, rank -> rank / 2, this);
        Edge fromThere = Samples.edge(2, 1);
        book.damaged(1, "why");
        assertEquals(List.of(), damaged, "nobody waits");
        for (Edge granted : List.of(Samples.edge(3, 0), fromThere, Samples.edge(2, 0), Samples.edge(1, 0))) {
            book.grant(
                    new PostedReceives.Buffer(0, granted, Samples.ENGINE, Samples.zeros(48), Fence.REACHED, 0, null));
        }
        book.damaged(1, "why");
        book.damaged(1, "why");
        assertEquals(List.of("node 1, rank 0", "node 1, rank 1"), damaged);
        UnsafeBuffer behind = Samples.fragment(Samples.id(fromThere, 1), message, 0, 192);
        assertNull(frame.read(behind, 0, behind.capacity()));
        assertNull(book.land(frame));
        assertEquals(List.of(), lost, "that the damaged one is missing is no news");
        book.epoch(1);
        book.grant(new PostedReceives.Buffer(1, fromThere, Samples.ENGINE, Samples.zeros(48), Fence.REACHED, 0, null));
        book.damaged(1, "why");
        assertEquals(List.of("node 1, rank 0", "node 1, rank 1", "node 1, rank 1"), damaged);
    }

    @Test
    void shouldIgnoreAFragmentThatComesTwice() {
        Tensor buffer = grant(edge, 48);
        assertNull(land(0, 0, 64));
        assertEquals(DropReason.OUT_OF_ORDER, land(0, 0, 64));
        assertNull(land(0, 64, 128));
        assertArrayEquals(Samples.bytes(message), Samples.bytes(buffer));
        assertEquals(List.of(), lost);
    }

    @Test
    void shouldDropOtherEpochsAndReturnBuffersWhenTheEpochGrows() {
        Tensor buffer = grant(edge, 48);
        assertNull(land(0, 0, 64));
        receives.epoch(1);
        assertEquals(List.of(buffer), returned);
        assertNull(receives.nextCreditDue(0));
        assertEquals(DropReason.OLD_EPOCH, land(0, 64, 128));
        assertEquals(DropReason.FUTURE_EPOCH,
                land(Samples.fragment(new MessageId(2, 5, edge, 0), message, 0, 192)));
        assertFalse(receives.grant(new PostedReceives.Buffer(0, edge, Samples.ENGINE, buffer, Fence.REACHED, 0, null)));
        assertEquals(List.of(), landed);
    }

    @Test
    void shouldKeepTheBufferWhenTheEngineCannotWriteIt() {
        Tensor buffer = Samples.zeros(48);
        grant(edge, Samples.failing("fromHost"), buffer);
        assertEquals(DropReason.LANDING_FAILED, land(0, 0, 192));
        assertEquals(List.of(DropReason.LANDING_FAILED), lost);
        receives.clear();
        assertEquals(List.of(buffer), returned);
    }

    @Test
    void shouldMakeCreditsOfBuffersThatTheirEnginesDoNotUse() {
        Samples.Gate free = new Samples.Gate();
        Tensor first = Samples.zeros(48);
        assertTrue(receives.grant(new PostedReceives.Buffer(0, edge, Samples.ENGINE, first, free, 0, null)));
        Tensor second = grant(edge, 48);
        assertEquals(0, receives.freed());
        assertNull(receives.nextCreditDue(0), "buffers are filled in the order of their grants");
        assertTrue(receives.awaitsEngine());
        free.isOpen = true;
        assertEquals(2, receives.freed());
        assertFalse(receives.awaitsEngine());
        assertEquals(2, receives.nextCreditDue(0).creditsDue);
        free.isOpen = false;
        Tensor third = Samples.zeros(48);
        assertTrue(receives.grant(new PostedReceives.Buffer(0, edge, Samples.ENGINE, third, free, 0, null)));
        receives.clear();
        assertEquals(List.of(first, second, third), returned);
        assertFalse(receives.awaitsEngine());
    }

    @Test
    void shouldSendCreditsOnceAndTogether() {
        grant(edge, 48);
        grant(edge, 48);
        assertEquals(edge, receives.nextCreditDue(0).edge);
        assertEquals(2, receives.nextCreditDue(0).creditsDue);
        receives.creditSent(0);
        assertNull(receives.nextCreditDue(0));
        grant(edge, 48);
        assertEquals(1, receives.nextCreditDue(0).creditsDue);
    }

    /** Frames with a good checksum but nonsense in their fields, onto granted buffers: only the right bytes may change. */
    @Test
    void shouldNeverWriteIntoAWrongBufferWhateverComes() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 300; round++) {
            landed.clear();
            landedIn.clear();
            var book = new PostedReceives(1, rank -> 0, this);
            Tensor other = Samples.zeros(48);
            Tensor mine = Samples.zeros(48);
            book.grant(new PostedReceives.Buffer(0, Samples.edge(1, 0), Samples.ENGINE, other, Fence.REACHED, 0, null));
            book.grant(new PostedReceives.Buffer(0, edge, Samples.ENGINE, mine, Fence.REACHED, 0, null));
            for (int shot = 0; shot < 100; shot++) {
                int offset = 64 * random.nextInt(3);
                UnsafeBuffer bytes = Samples.fragment(Samples.id(edge, random.nextInt(2)), message, offset, 64);
                int field = 16 + random.nextInt(FrameWriter.FRAGMENT_HEADER_BYTES - 16);
                // A fragment with a wrong offset under a good checksum cannot be distinguished from a correct one.
                boolean isPlace = field >= 32 && field < 40;
                if (!isPlace && random.nextInt(3) > 0) {
                    bytes.putByte(field, (byte) random.nextInt(random.nextBoolean() ? 4 : 256));
                    Samples.resealed(bytes);
                }
                if (frame.read(bytes, 0, bytes.capacity()) == null && !frame.edge().equals(Samples.edge(1, 0))) {
                    book.land(frame);
                }
            }
            String where = "seed " + seed + ", round " + round;
            assertArrayEquals(new byte[192], Samples.bytes(other), where);
            byte[] found = Samples.bytes(mine);
            byte[] sent = Samples.bytes(message);
            for (int part = 0; part < 192; part += 64) {
                byte[] piece = Arrays.copyOfRange(found, part, part + 64);
                assertTrue(Arrays.equals(piece, new byte[64])
                        || Arrays.equals(piece, Arrays.copyOfRange(sent, part, part + 64)), where);
            }
            assertTrue(landed.size() <= 1, where);
        }
    }
}
