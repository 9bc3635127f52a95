package dev.troupe.fault;

import dev.troupe.config.fault.FaultPoint;
import dev.troupe.schedule.Kind;
import java.util.Optional;

/** The actions of a step in the words of faults. */
public final class FaultPoints {
    private FaultPoints() {
    }

    /** The point of an action of a kind; empty for kinds at which no fault can strike. */
    public static Optional<FaultPoint> of(Kind kind) {
        return switch (kind) {
            case FORWARD -> Optional.of(FaultPoint.FORWARD);
            case FULL_BACKWARD -> Optional.of(FaultPoint.BACKWARD);
            case BACKWARD_INPUT -> Optional.of(FaultPoint.BACKWARD_INPUT);
            case RECOMPUTE -> Optional.of(FaultPoint.RECOMPUTE);
            case BACKWARD_WEIGHT -> Optional.of(FaultPoint.BACKWARD_WEIGHT);
            case SEND_F, SEND_B -> Optional.of(FaultPoint.SEND);
            case RECV_F, RECV_B -> Optional.of(FaultPoint.RECEIVE);
            case SEND_SHARED, RECV_SHARED, REDUCE_GRAD, NORM -> Optional.of(FaultPoint.REDUCE);
            case UPDATE -> Optional.of(FaultPoint.OPTIMIZER);
            case SNAPSHOT -> Optional.of(FaultPoint.COMMIT);
            case UNSHARD, RESHARD -> Optional.empty();
        };
    }
}
