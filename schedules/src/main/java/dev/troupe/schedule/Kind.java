package dev.troupe.schedule;

import java.util.Arrays;
import java.util.stream.Collectors;

/** The kind of work of an action. The codes F to RECV_B, UNSHARD, RESHARD and REDUCE_GRAD are PyTorch's. */
public enum Kind {
    /** The forward of a stage for one microbatch. */
    FORWARD("F", Resource.COMPUTE, true),
    /** The whole backward: the gradients of the input and of the weights together. */
    FULL_BACKWARD("B", Resource.COMPUTE, true),
    /** The backward for the input alone; the stage before waits for its gradient. */
    BACKWARD_INPUT("I", Resource.COMPUTE, true),
    /** The backward for the weights alone; only the optimizer waits for its gradients. */
    BACKWARD_WEIGHT("W", Resource.COMPUTE, true),
    /**
     * The forward again, as far as the backward needs it, before the gradient arrives. The B or I after it finds the
     * activations that the forward did not keep.
     */
    RECOMPUTE("RECOMPUTE", Resource.COMPUTE, true),
    /** Sends the output of this stage to the next one. */
    SEND_F("SEND_F", Resource.LINK, true),
    /** Receives the input of this stage from the one before. */
    RECV_F("RECV_F", Resource.LINK, true),
    /** Sends the gradient of this stage's input to the stage before. */
    SEND_B("SEND_B", Resource.LINK, true),
    /** Receives the gradient of this stage's output from the next one. */
    RECV_B("RECV_B", Resource.LINK, true),
    /**
     * Gathers the weights of the stage's layers, in order, from the ranks that hold a share of them. Before the first action
     * that reads them, layers are gathered as they are read; after an update, all of them.
     */
    UNSHARD("UNSHARD", Resource.GROUP, false),
    /** Frees the gathered weights. */
    RESHARD("RESHARD", Resource.GROUP, false),
    /** Adds up the gradients of the stage's layers over the ranks that hold the same weights, and waits for the sums. */
    REDUCE_GRAD("REDUCE_GRAD", Resource.GROUP, false),
    /** Sends this stage's gradient of a parameter that it shares with another stage. */
    SEND_SHARED("SEND_SHARED", Resource.LINK, false),
    /** Receives the other stage's gradient of a shared parameter, and adds it. */
    RECV_SHARED("RECV_SHARED", Resource.LINK, false),
    /** Adds up the squares of the stage's gradients, for the global norm. */
    NORM("NORM", Resource.GROUP, false),
    /** Runs the optimizer's step as the coordinator decides. */
    UPDATE("UPDATE", Resource.DECISION, false),
    /** Takes the snapshot from which a failed stage restarts. */
    SNAPSHOT("SNAPSHOT", Resource.COMPUTE, false);

    private final String code;
    private final Resource resource;
    private final boolean perMicrobatch;

    Kind(String code, Resource resource, boolean perMicrobatch) {
        this.code = code;
        this.resource = resource;
        this.perMicrobatch = perMicrobatch;
    }

    /** Returns the code of this kind in the text of an action, such as {@code F} or {@code SEND_B}. */
    public String code() {
        return code;
    }

    /** Returns the code of this kind on a narrow bar of a drawing: R for RECOMPUTE. */
    public String letter() {
        return this == RECOMPUTE ? "R" : code;
    }

    /** Returns the resource that an action of this kind needs in addition to the engine of its rank. */
    public Resource resource() {
        return resource;
    }

    /** Returns whether an action of this kind is done for each microbatch; if not, once in a step. */
    public boolean isPerMicrobatch() {
        return perMicrobatch;
    }

    /** Returns whether this kind computes for a microbatch: F, B, I, W or RECOMPUTE. */
    public boolean isCompute() {
        return perMicrobatch && resource == Resource.COMPUTE;
    }

    /**
     * Returns whether this kind sends or receives the activation or gradient of a microbatch: SEND_F, RECV_F, SEND_B or
     * RECV_B.
     */
    public boolean isTransfer() {
        return perMicrobatch && resource == Resource.LINK;
    }

    /** Returns whether this kind moves a tensor from one stage to another. */
    public boolean isMessage() {
        return resource == Resource.LINK;
    }

    /** Returns whether this kind sends a tensor to another stage. */
    public boolean isSend() {
        return this == SEND_F || this == SEND_B || this == SEND_SHARED;
    }

    /** Returns whether this kind receives a tensor of another stage. */
    public boolean isReceive() {
        return isMessage() && !isSend();
    }

    /**
     * Returns the kind at the other end of a message: RECV_F for SEND_F.
     *
     * @throws IllegalStateException if this kind is no message
     */
    public Kind otherEnd() {
        return switch (this) {
            case SEND_F -> RECV_F;
            case RECV_F -> SEND_F;
            case SEND_B -> RECV_B;
            case RECV_B -> SEND_B;
            case SEND_SHARED -> RECV_SHARED;
            case RECV_SHARED -> SEND_SHARED;
            default -> throw new IllegalStateException(code + " is no message and has no other end.");
        };
    }

    /** Returns whether this kind makes the gradient of a stage's input: B, or I if the backward is split. */
    public boolean makesInputGradient() {
        return this == FULL_BACKWARD || this == BACKWARD_INPUT;
    }

    /**
     * Returns whether the activations of the forward may be dropped once this action has ended: B, or W if the backward is
     * split.
     */
    public boolean freesActivation() {
        return this == FULL_BACKWARD || this == BACKWARD_WEIGHT;
    }

    /**
     * Returns the kind with this code.
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
