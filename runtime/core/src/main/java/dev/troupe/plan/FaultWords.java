package dev.troupe.plan;

import dev.troupe.config.fault.FaultMessage;
import dev.troupe.config.fault.FaultPoint;
import dev.troupe.protocol.MessageKind;
import dev.troupe.schedule.Kind;
import java.util.Optional;

/** The actions and messages of a step in the terms of faults. */
public final class FaultWords {
    private FaultWords() {
    }

    /** Returns the point of an action of a kind; empty for kinds at which no fault can strike. */
    public static Optional<FaultPoint> pointOf(Kind kind) {
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

    public static FaultMessage contentOf(Kind message) {
        return switch (message) {
            case SEND_F, RECV_F -> FaultMessage.ACTIVATION;
            case SEND_B, RECV_B -> FaultMessage.GRADIENT;
            case SEND_SHARED, RECV_SHARED -> FaultMessage.TIED_GRADIENT;
            default -> throw new IllegalArgumentException(message + " is no message");
        };
    }

    public static FaultMessage contentOf(MessageKind message) {
        return switch (message) {
            case ACTIVATION -> FaultMessage.ACTIVATION;
            case GRADIENT -> FaultMessage.GRADIENT;
            case SHARED_GRADIENT -> FaultMessage.TIED_GRADIENT;
        };
    }
}
