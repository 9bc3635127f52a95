package dev.troupe.snapshot.copy;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The places of the tensors of a snapshot. Immutable; equal if the tensors and their places are equal.
 *
 * @param regions the regions by name, one after the other
 * @param byteCount bytes of all regions, with the gaps that align them
 */
public record SnapshotLayout(Map<String, Region> regions, long byteCount) {
    /** The alignment of regions, a cache line. */
    public static final int ALIGNMENT = 64;

    /** The place of a tensor; offset in bytes. */
    public record Region(long offset, Shape shape, DataType type) {
        /** Returns the bytes of the tensor, without padding. */
        public long byteCount() {
            return Math.multiplyExact(shape.elementCount(), type.elementBytes());
        }
    }

    public SnapshotLayout {
        regions = Collections.unmodifiableMap(new LinkedHashMap<>(regions));
    }

    /** A builder that places tensors one after the other. One thread. */
    public static final class Builder {
        private final Map<String, Region> regions = new LinkedHashMap<>();
        private long end;

        /**
         * Adds a tensor. A second one of the same name gets the place of the first: both ends of a tied table have the same
         * bits.
         */
        public void add(String name, Shape shape, DataType type) {
            Region region = new Region(end, shape, type);
            if (regions.putIfAbsent(name, region) == null) {
                end = Math.addExact(end, Math.addExact(region.byteCount(), ALIGNMENT - 1)) / ALIGNMENT * ALIGNMENT;
            }
        }

        /** Returns the layout of the tensors so far. */
        public SnapshotLayout build() {
            return new SnapshotLayout(regions, end);
        }
    }

    /** Returns the layout as bytes for {@link #decode}, without the offsets, which follow from the sizes. */
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
     * Decodes the bytes of {@link #encode}.
     *
     * @throws IllegalArgumentException if the bytes are no layout
     */
    public static SnapshotLayout decode(byte[] bytes) {
        Builder tensors = new Builder();
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            int count = in.readInt();
            for (int i = 0; i < count; i++) {
                String name = in.readUTF();
                DataType type = type(in.readUnsignedByte());
                int[] sizes = new int[in.readUnsignedByte()];
                for (int dimension = 0; dimension < sizes.length; dimension++) {
                    sizes[dimension] = in.readInt();
                }
                tensors.add(name, Shape.of(sizes), type);
            }
            if (in.available() > 0 || tensors.regions.size() != count) {
                throw new IllegalArgumentException("a layout of " + count + " tensors was expected, but found "
                        + tensors.regions.size() + " and " + in.available() + " bytes more");
            }
            return tensors.build();
        } catch (IOException | ArithmeticException wrong) {
            throw new IllegalArgumentException("the bytes are no layout of a snapshot", wrong);
        }
    }

    private static DataType type(int code) {
        return Arrays.stream(DataType.values()).filter(type -> type.code() == code).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no type of code " + code));
    }
}
