package dev.troupe.rank.idle;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import java.util.List;
import java.util.Objects;

/**
 * A message of a step, recorded at both ends.
 *
 * @param sender the rank of the world that sent it
 * @param receiver the rank of the world that it landed at
 * @param maker the position in the sender's row of the action that made its tensor
 * @param handedNanos the instant of its hand-over to the transport
 * @param creditNanos the time for which it then had no credit
 * @param landedNanos the instant at which it had landed
 * @param bytes the size of its tensor, without headers
 * @param isAgain whether a rank that was restarted made it again, after it had landed
 */
public record Message(int sender, int receiver, Action send, int maker, long handedNanos, long creditNanos,
        long landedNanos, long bytes, boolean isAgain) {
    /** Returns the message of a receive; null if it is none between ranks, or was not recorded. */
    static Message to(StepTimes step, int rank, Action receive) {
        StepTimes.Rows rows = step.rows();
        RankTimes times = step.ranks().get(rank);
        int landed = rows.position(receive);
        if (landed < 0 || !times.hasMoved(landed) || !rows.plan().needsMessage(receive)) {
            return null;
        }
        Action send = rows.plan().peer(receive);
        int sender = rows.inPipelineOf(rank, rows.plan().rankOf(send));
        int handed = rows.position(send);
        RankTimes from = step.ranks().get(sender);
        int maker = maker(rows, send);
        if (handed < 0 || maker < 0 || !from.hasMoved(handed) || !from.did(maker)) {
            return null;
        }
        long handedNanos = from.movedNanos(handed);
        long landedNanos = Math.max(times.movedNanos(landed), handedNanos);
        return new Message(sender, rank, send, maker, handedNanos,
                Math.min(from.creditNanos()[handed], landedNanos - handedNanos), landedNanos, from.bytes()[handed],
                times.movedNanos(landed) < handedNanos);
    }

    /** Returns the message without which an action cannot begin; null if there is none, or it was not recorded. */
    static Message into(StepTimes step, int rank, Action action) {
        return switch (action.kind()) {
            case FORWARD -> to(step, rank, action.as(Kind.RECV_F));
            case FULL_BACKWARD, BACKWARD_INPUT -> to(step, rank, action.as(Kind.RECV_B));
            case RECV_SHARED -> to(step, rank, action);
            default -> null;
        };
    }

    /** Returns the messages of a step that both ends recorded, by their receiver. */
    public static List<Message> all(StepTimes step) {
        return step.ranks().stream()
                .flatMap(times -> step.rows().row(times.rank()).stream().filter(action -> action.kind().isReceive())
                        .map(receive -> to(step, times.rank(), receive)))
                .filter(Objects::nonNull).toList();
    }

    /** Returns the position in the receiver's row of the action that takes the tensor; -1 if there is none. */
    public int user(StepTimes step) {
        Action receive = step.rows().plan().peer(send);
        return switch (receive.kind()) {
            case RECV_F -> step.rows().position(receive.as(Kind.FORWARD));
            case RECV_B -> Math.max(step.rows().position(receive.as(Kind.FULL_BACKWARD)),
                    step.rows().position(receive.as(Kind.BACKWARD_INPUT)));
            default -> step.rows().position(receive);
        };
    }

    private static int maker(StepTimes.Rows rows, Action send) {
        return switch (send.kind()) {
            case SEND_F -> rows.position(send.as(Kind.FORWARD));
            case SEND_B -> Math.max(rows.position(send.as(Kind.FULL_BACKWARD)),
                    rows.position(send.as(Kind.BACKWARD_INPUT)));
            default -> rows.position(send);
        };
    }

    /** Returns its time on the way, after it had a credit. */
    public long wireNanos() {
        return landedNanos - handedNanos - creditNanos;
    }
}
