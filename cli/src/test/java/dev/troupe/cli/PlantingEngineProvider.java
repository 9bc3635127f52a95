package dev.troupe.cli;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.late.WrappedEngine;
import dev.troupe.engine.late.WrappedEngine.Around;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * The reference engine, with a NaN in the place of {@link #MARKER} in a copy from the host: a weight that was damaged
 * after it was read, since a file with a NaN is refused.
 */
public final class PlantingEngineProvider extends WrappingEngineProvider {
    public static final String KIND = "planting";
    /** A number that float32 and float64 hold exactly. */
    public static final float MARKER = 12_345.5f;

    /** For {@link java.util.ServiceLoader}. */
    public PlantingEngineProvider() {
        super(KIND);
    }

    @Override
    Around around(Engine engine) {
        return (method, arguments) -> switch (method.getName()) {
            case "hostMemory" -> Optional.empty(); // so that all numbers come by copies
            case "copyFromHost", "fromHost" -> {
                try (Arena arena = Arena.ofShared()) {
                    Object[] planted = arguments.clone();
                    planted[0] = planted((MemorySegment) arguments[0], ((Tensor) arguments[1]).dataType(), arena);
                    yield WrappedEngine.call(engine, method, planted);
                }
            }
            default -> WrappedEngine.call(engine, method, arguments);
        };
    }

    private static MemorySegment planted(MemorySegment source, DataType type, Arena arena) {
        MemorySegment copy = arena.allocate(Math.max(source.byteSize(), 1), Double.BYTES).asSlice(0, source.byteSize());
        copy.copyFrom(source);
        for (long at = 0; at + type.elementBytes() <= copy.byteSize(); at += type.elementBytes()) {
            if (type == DataType.FLOAT32 && copy.get(JAVA_FLOAT_UNALIGNED, at) == MARKER) {
                copy.set(JAVA_FLOAT_UNALIGNED, at, Float.NaN);
            } else if (type == DataType.FLOAT64 && copy.get(JAVA_DOUBLE_UNALIGNED, at) == MARKER) {
                copy.set(JAVA_DOUBLE_UNALIGNED, at, Double.NaN);
            }
        }
        return copy;
    }
}
