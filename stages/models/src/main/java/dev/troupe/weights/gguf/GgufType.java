package dev.troupe.weights.gguf;

import dev.troupe.engine.Bfloat16;
import java.nio.ByteBuffer;
import java.util.Locale;

/** The type of the matrices of a GGUF file, with ggml's numbers for it. */
public enum GgufType {
    F32(0, 0, 1, 4) {
        @Override
        void put(float[] row, ByteBuffer target) {
            for (float value : row) {
                target.putFloat(value);
            }
        }
    },
    F16(1, 1, 1, 2) {
        @Override
        void put(float[] row, ByteBuffer target) {
            for (float value : row) {
                target.putShort(half(value));
            }
        }
    },
    BF16(30, 32, 1, 2) {
        @Override
        void put(float[] row, ByteBuffer target) {
            for (float value : row) {
                target.putShort(Bfloat16.of(value));
            }
        }
    },
    /**
     * Blocks of 32 numbers: a scale, the greatest magnitude divided by 127, as float16; then each number divided by the
     * scale, rounded to a byte.
     */
    Q8_0(8, 7, 32, 34) {
        @Override
        void put(float[] row, ByteBuffer target) {
            for (int from = 0; from < row.length; from += blockElements()) {
                float greatest = 0;
                for (int i = from; i < from + blockElements(); i++) {
                    greatest = Math.max(greatest, Math.abs(row[i]));
                }
                float scale = greatest / Byte.MAX_VALUE;
                float inverse = 1 / scale;
                target.putShort(half(scale));
                for (int i = from; i < from + blockElements(); i++) {
                    // A block of zeros, or of numbers so small that the scale is zero, has no inverse.
                    target.put(Float.isFinite(inverse) ? rounded(row[i] * inverse) : 0);
                }
            }
        }
    };

    private final int code;
    private final int fileCode;
    private final int blockElements;
    private final int blockBytes;

    GgufType(int code, int fileCode, int blockElements, int blockBytes) {
        this.code = code;
        this.fileCode = fileCode;
        this.blockElements = blockElements;
        this.blockBytes = blockBytes;
    }

    /** A number that the type cannot hold; the message follows the tensor's name. */
    static final class Overflow extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Overflow(String message) {
            super(message);
        }
    }

    /** Appends a row of whole blocks to a little-endian buffer with {@link #rowBytes} left. */
    abstract void put(float[] row, ByteBuffer target);

    int code() {
        return code;
    }

    int fileCode() {
        return fileCode;
    }

    int blockElements() {
        return blockElements;
    }

    /** Returns the bytes of a row; exact, since a row is whole blocks. */
    long rowBytes(long width) {
        return width / blockElements * blockBytes;
    }

    /** Returns the type of a row with this number of elements: float16 if they are no whole blocks, as in llama.cpp. */
    GgufType ofRow(long width) {
        return width % blockElements == 0 ? this : F16;
    }

    /** Returns its name in lower case. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    private static short half(float value) {
        short half = Float.floatToFloat16(value);
        if (Float.isFinite(value) && !Float.isFinite(Float.float16ToFloat(half))) {
            throw new Overflow("has the number " + value + ", and float16 ends at 65504: take --type bf16 or f32");
        }
        return half;
    }

    /** Rounds to the nearest, a half away from zero. */
    private static byte rounded(float value) {
        return (byte) Math.copySign(Math.floor(Math.abs((double) value) + 0.5), value);
    }
}
