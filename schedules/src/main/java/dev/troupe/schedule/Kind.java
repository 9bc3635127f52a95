package dev.troupe.schedule;

import java.util.Arrays;
import java.util.stream.Collectors;

/** What an action does. The codes are those that PyTorch writes in its plans. */
public enum Kind {
    /** The forward of a stage for one microbatch. */
    FORWARD("F"),
    /** The whole backward: the gradients of the input and of the weights together. */
    FULL_BACKWARD("B"),
    /** The backward for the input alone; the gradient it makes is what the stage before waits for. */
    BACKWARD_INPUT("I"),
    /** The backward for the weights alone; nobody waits for it but the optimizer. */
    BACKWARD_WEIGHT("W"),
    /** Sends the output of this stage to the next one. */
    SEND_F("SEND_F"),
    /** Receives the input of this stage from the one before. */
    RECV_F("RECV_F"),
    /** Sends the gradient of this stage's input to the stage before. */
    SEND_B("SEND_B"),
    /** Receives the gradient of this stage's output from the next one. */
    RECV_B("RECV_B");

    private final String code;

    Kind(String code) {
        this.code = code;
    }

    /** The code of this kind in the text of an action, such as {@code F} or {@code SEND_B}. */
    public String code() {
        return code;
    }

    /** Whether it hands a tensor to another rank. */
    public boolean isSend() {
        return this == SEND_F || this == SEND_B;
    }

    /** Whether this kind moves a tensor between ranks; if not, it computes. */
    public boolean isMessage() {
        return switch (this) {
            case FORWARD, FULL_BACKWARD, BACKWARD_INPUT, BACKWARD_WEIGHT -> false;
            case SEND_F, RECV_F, SEND_B, RECV_B -> true;
        };
    }

    /** Whether this kind makes the gradient of a stage's input: B, or I where the backward is split. */
    public boolean makesInputGradient() {
        return switch (this) {
            case FULL_BACKWARD, BACKWARD_INPUT -> true;
            case FORWARD, BACKWARD_WEIGHT, SEND_F, RECV_F, SEND_B, RECV_B -> false;
        };
    }

    /** Whether the activations of the forward may be dropped once this action has ended: B, or W where it is split. */
    public boolean freesActivation() {
        return switch (this) {
            case FULL_BACKWARD, BACKWARD_WEIGHT -> true;
            case FORWARD, BACKWARD_INPUT, SEND_F, RECV_F, SEND_B, RECV_B -> false;
        };
    }

    /**
     * The kind with this code.
     *
     * @throws PlanException if no kind has it; the message lists those that exist
     */
    public static Kind ofCode(String code) {
        for (Kind kind : values()) {
            if (kind.code.equals(code)) {
                return kind;
            }
        }
        throw new PlanException("\"" + code + "\" is no kind of action: use one of "
                + Arrays.stream(values()).map(Kind::code).collect(Collectors.joining(", ")) + ".");
    }
}
