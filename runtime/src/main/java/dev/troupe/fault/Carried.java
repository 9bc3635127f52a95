package dev.troupe.fault;

import dev.troupe.config.fault.FaultMessage;
import dev.troupe.schedule.Kind;
import dev.troupe.transport.MessageKind;

/** What a message carries, in the words of faults. */
public final class Carried {
    private Carried() {
    }

    /** What a send or receive of a plan is about. */
    public static FaultMessage by(Kind message) {
        return switch (message) {
            case SEND_F, RECV_F -> FaultMessage.ACTIVATION;
            case SEND_B, RECV_B -> FaultMessage.GRADIENT;
            case FORWARD, FULL_BACKWARD, BACKWARD_INPUT, BACKWARD_WEIGHT ->
                throw new IllegalArgumentException(message + " is no message");
        };
    }

    static FaultMessage by(MessageKind message) {
        return switch (message) {
            case ACTIVATION -> FaultMessage.ACTIVATION;
            case GRADIENT -> FaultMessage.GRADIENT;
            case TIED_GRADIENT -> FaultMessage.TIED_GRADIENT;
        };
    }
}
