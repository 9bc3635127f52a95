package dev.troupe.snapshot;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.shard.StateTensor;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The places of the tensors of a snapshot. Immutable; equal where the tensors and their places are equal.
 *
 * @param regions
 *            the regions by name, one after the other
 * @param byteCount
 *            bytes of all regions, with the gaps that align them
 */
public record SnapshotLayout(Map<String, Region> regions, long byteCount) {
    /** Regions begin on cache lines. */
    static final int ALIGNMENT = 64;

    /** A tensor's place; offset and size in bytes. */
    public record Region(long offset, Shape shape, DataType type) {
        long byteCount() {
            return Math.multiplyExact(shape.elementCount(), type.elementBytes());
        }
    }

    public SnapshotLayout {
        regions = Collections.unmodifiableMap(new LinkedHashMap<>(regions));
    }

    /** Returns the layout of tensors, one after the other. */
    private static final class Row {
        private final Map<String, Region> regions = new LinkedHashMap<>();
        private long end;

        /** Both ends of a tied table have one name, and the same bits. */
        void add(String name, Shape shape, DataType type) {
            Region region = new Region(end, shape, type);
            if (regions.putIfAbsent(name, region) == null) {
                end = Math.addExact(end, Math.addExact(region.byteCount(), ALIGNMENT - 1)) / ALIGNMENT * ALIGNMENT;
            }
        }

        SnapshotLayout layout() {
            return new SnapshotLayout(regions, end);
        }
    }

    /** Returns the layout of the tensors of a stage, one after the other; only their names, shapes and types are used. */
    public static SnapshotLayout of(List<StateTensor> state) {
        Row row = new Row();
        state.forEach(named -> row.add(named.name(), named.tensor().shape(), named.tensor().dataType()));
        return row.layout();
    }

    /** Returns the layout as bytes for {@link #decode}. The offsets are not in it: they follow from the sizes. */
    public byte[] encode() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(regions.size());
            for (Map.Entry<String, Region> named : regions.entrySet()) {
                out.writeUTF(named.getKey());
                out.writeByte(named.getValue().type().code());
                int[] sizes = named.getValue().shape().toArray();
                out.writeByte(sizes.length);
                for (int size : sizes) {
                    out.writeInt(size);
                }
            }
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // memory has room for every byte
        }
        return bytes.toByteArray();
    }

    /**
     * Makes a layout of the bytes of {@link #encode}.
     *
     * @throws IllegalArgumentException
     *             where the bytes are no layout
     */
    public static SnapshotLayout decode(byte[] bytes) {
        Row row = new Row();
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            int count = in.readInt();
            for (int i = 0; i < count; i++) {
                String name = in.readUTF();
                DataType type = type(in.readUnsignedByte());
                int[] sizes = new int[in.readUnsignedByte()];
                for (int dimension = 0; dimension < sizes.length; dimension++) {
                    sizes[dimension] = in.readInt();
                }
                row.add(name, Shape.of(sizes), type);
            }
            if (in.available() > 0 || row.regions.size() != count) {
                throw new IllegalArgumentException("a layout of " + count + " tensors was expected, but found "
                        + row.regions.size() + " and " + in.available() + " bytes more");
            }
            return row.layout();
        } catch (IOException | ArithmeticException wrong) {
            throw new IllegalArgumentException("the bytes are no layout of a snapshot", wrong);
        }
    }

    private static DataType type(int code) {
        return Arrays.stream(DataType.values()).filter(type -> type.code() == code).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no type of code " + code));
    }
}
