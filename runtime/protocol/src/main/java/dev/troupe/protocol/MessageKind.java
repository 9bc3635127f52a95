package dev.troupe.protocol;

/** The kind of a tensor between two stages. Its code is part of the wire format, so it never changes. */
public enum MessageKind {
    /** The output of a stage, on its way to the next one. */
    ACTIVATION(1),
    /** The gradient for the output of a stage, on its way back to it. */
    GRADIENT(2),
    /** The gradient of a shared parameter, on its way to the other stage. */
    SHARED_GRADIENT(3);

    private final int code;

    MessageKind(int code) {
        this.code = code;
    }

    /** The code of this kind in a frame, from 1 to 255. */
    public int code() {
        return code;
    }
}
