package dev.troupe.transport.link;

import dev.troupe.transport.PendingTransfer;
import dev.troupe.transport.PendingTransfer.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The list of waiting transfers, from the send queue and the posted receives. */
final class Diagnosis {
    private Diagnosis() {
    }

    static List<PendingTransfer> of(SendQueue sends, PostedReceives receives, long nowNanos) {
        List<PendingTransfer> pending = new ArrayList<>();
        for (SendQueue.OutgoingEdge edge : sends.edges()) {
            SendQueue.Outgoing active = edge.active;
            if (active != null) {
                pending.add(new PendingTransfer(edge.edge, active.isReady() ? State.SENDING : State.NOT_COMPUTED, 1,
                        active.id + ", " + active.position + " of " + active.byteCount + " bytes gone",
                        since(active.sinceNanos, nowNanos)));
            }
            SendQueue.Outgoing head = edge.held.peekFirst();
            if (head != null) {
                // A message after an active one may have a credit, but still waits.
                State state = edge.credits == 0 || edge.creditEpoch != head.id.epoch()
                        ? State.SEND_WITHOUT_CREDIT
                        : State.SENDING;
                pending.add(new PendingTransfer(edge.edge, state, edge.held.size(), head.id.toString(),
                        since(head.sinceNanos, nowNanos)));
            }
        }
        for (IncomingEdge edge : receives.edges()) {
            PostedReceives.Buffer head = edge.buffers.peekFirst();
            if (head != null) {
                String oldest = head.tensor().dataType() + " " + head.tensor().shape();
                boolean begun = edge.filled > 0;
                pending.add(new PendingTransfer(edge.edge, begun ? State.LANDING : State.BUFFER_NOT_FILLED,
                        edge.buffers.size(),
                        begun
                                ? oldest + ", pass " + edge.pass + ", microbatch " + edge.microbatch + ", "
                                        + edge.filled
                                        + " of " + head.tensor().byteCount() + " bytes landed"
                                : oldest,
                        since(head.sinceNanos(), nowNanos)));
            }
        }
        for (IncomingEdge edge : receives.edges()) {
            PostedReceives.Buffer head = edge.beingCopied.peekFirst();
            if (head != null) {
                pending.add(new PendingTransfer(edge.edge, State.LANDING, edge.beingCopied.size(),
                        head.tensor().dataType() + " " + head.tensor().shape() + ", which a device copies",
                        since(head.sinceNanos(), nowNanos)));
            }
        }
        for (IncomingEdge edge : receives.edges()) {
            PostedReceives.Buffer head = edge.inUse.peekFirst();
            if (head != null) {
                pending.add(new PendingTransfer(edge.edge, State.BUFFER_IN_USE, edge.inUse.size(),
                        head.tensor().dataType() + " " + head.tensor().shape(), since(head.sinceNanos(), nowNanos)));
            }
        }
        pending.sort(Comparator.comparing(PendingTransfer::waiting).reversed());
        return List.copyOf(pending);
    }

    private static Duration since(long thenNanos, long nowNanos) {
        return Duration.ofNanos(Math.max(0, nowNanos - thenNanos));
    }
}
