package dev.troupe.weights;

import dev.troupe.engine.DataType;
import java.util.Arrays;
import java.util.Optional;

/** The type of a tensor's elements in a safetensors file, with the format's names. */
public enum StoredType {
    BOOL(8), F4(4), F6_E2M3(6), F6_E3M2(6), U8(8), I8(8), F8_E5M2(8), F8_E4M3(8), F8_E8M0(8), F8_E4M3FNUZ(
            8), F8_E5M2FNUZ(8), I16(16), U16(16), F16(16), BF16(16), I32(32), U32(32), F32(32), C64(64), F64(64), I64(
                    64), U64(64);

    private final int elementBits;

    StoredType(int elementBits) {
        this.elementBits = elementBits;
    }

    public int elementBits() {
        return elementBits;
    }

    /** Returns the bytes of one element; exact for every type that can be converted. */
    public int elementBytes() {
        return elementBits / Byte.SIZE;
    }

    /** Returns the type that stores an engine's type without loss. */
    public static StoredType of(DataType type) {
        return switch (type) {
            case FLOAT32 -> F32;
            case FLOAT64 -> F64;
            case INT32 -> I32;
            case BFLOAT16 -> BF16;
        };
    }

    /** Returns the type of a name; empty if this reader does not know it. */
    static Optional<StoredType> named(String name) {
        return Arrays.stream(values()).filter(type -> type.name().equals(name)).findFirst();
    }
}
