package dev.troupe.weights;

import dev.troupe.engine.DataType;
import java.util.Arrays;
import java.util.Optional;

/** The type of a tensor's elements in a safetensors file; the constants bear the names the format gives them. */
public enum StoredType {
    BOOL(1), U8(1), I8(1), F8_E5M2(1), F8_E4M3(1), I16(2), U16(2), F16(2), BF16(2), I32(4), U32(4), F32(4), F64(8), I64(
            8), U64(8);

    private final int elementBytes;

    StoredType(int elementBytes) {
        this.elementBytes = elementBytes;
    }

    /** Bytes of one element. */
    public int elementBytes() {
        return elementBytes;
    }

    /** The type that stores an engine's type without loss. */
    public static StoredType of(DataType type) {
        return switch (type) {
            case FLOAT32 -> F32;
            case FLOAT64 -> F64;
            case INT32 -> I32;
            case BFLOAT16 -> BF16;
        };
    }

    /** The type of that name, or nothing where this reader does not know it. */
    static Optional<StoredType> named(String name) {
        return Arrays.stream(values()).filter(type -> type.name().equals(name)).findFirst();
    }
}
