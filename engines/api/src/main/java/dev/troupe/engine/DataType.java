package dev.troupe.engine;

/** The type of a tensor's elements. The code of a type is sent to other processes, so it never changes. */
public enum DataType {
    FLOAT32(1, Float.BYTES), FLOAT64(2, Double.BYTES), INT32(3, Integer.BYTES),
    /** The upper half of a FLOAT32: its range with 8 significant bits; see {@link Bfloat16}. */
    BFLOAT16(4, Short.BYTES);

    private final int code;
    private final int elementBytes;

    DataType(int code, int elementBytes) {
        this.code = code;
        this.elementBytes = elementBytes;
    }

    /** The number of this type in a message header. */
    public int code() {
        return code;
    }

    public int elementBytes() {
        return elementBytes;
    }
}
