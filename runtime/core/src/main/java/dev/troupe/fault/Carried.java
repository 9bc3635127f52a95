package dev.troupe.fault;

import dev.troupe.config.fault.FaultMessage;
import dev.troupe.protocol.MessageKind;
import dev.troupe.schedule.Kind;

/** The content of messages, in the words of faults. */
public final class Carried {
    private Carried() {
    }

    /** Returns the content of a send or receive of a plan. */
    public static FaultMessage by(Kind message) {
        return switch (message) {
            case SEND_F, RECV_F -> FaultMessage.ACTIVATION;
            case SEND_B, RECV_B -> FaultMessage.GRADIENT;
            case SEND_SHARED, RECV_SHARED -> FaultMessage.TIED_GRADIENT;
            default -> throw new IllegalArgumentException(message + " is no message");
        };
    }

    static FaultMessage by(MessageKind message) {
        return switch (message) {
            case ACTIVATION -> FaultMessage.ACTIVATION;
            case GRADIENT -> FaultMessage.GRADIENT;
            case SHARED_GRADIENT -> FaultMessage.TIED_GRADIENT;
        };
    }
}
