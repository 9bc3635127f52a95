package dev.troupe.weights;

import static dev.troupe.weights.Wording.quoted;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SequencedMap;

/**
 * A safetensors file, mapped into memory and checked completely when it is opened; it may be larger than 2 GiB. Any thread
 * may read it until it is closed. {@link SafeTensorsWriter} writes such files.
 */
public final class SafeTensors implements AutoCloseable {
    private static final long LONGEST_HEADER = 100_000_000;
    private static final ValueLayout.OfLong LENGTH = ValueLayout.JAVA_LONG_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);

    private final Path file;
    private final Arena arena;
    private final MemorySegment data;
    private final SafeTensorsHeader header;

    private SafeTensors(Path file, Arena arena, MemorySegment data, SafeTensorsHeader header) {
        this.file = file;
        this.arena = arena;
        this.data = data;
        this.header = header;
    }

    /**
     * Maps a file and checks its header against its size.
     *
     * @throws WeightException if the file cannot be read or is not a sound safetensors file
     */
    public static SafeTensors open(Path file) {
        if (Files.isDirectory(file)) {
            throw new WeightException(
                    file + " must be a safetensors file, but is a directory; name the file inside it");
        }
        requireRegular(file);
        // Shared, as the stages that read their slices run on threads of their own.
        Arena arena = Arena.ofShared();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            MemorySegment all = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            long headerBytes = headerBytes(file, all);
            long dataBytes = all.byteSize() - Long.BYTES - headerBytes;
            byte[] json = all.asSlice(Long.BYTES, headerBytes).toArray(ValueLayout.JAVA_BYTE);
            SafeTensorsHeader header = SafeTensorsHeader.parse(file, json, dataBytes);
            return new SafeTensors(file, arena, all.asSlice(Long.BYTES + headerBytes, dataBytes), header);
        } catch (IOException failure) {
            arena.close();
            throw new WeightException("cannot read " + file + ": " + FileReason.of(failure), failure);
        } catch (RuntimeException refused) {
            arena.close();
            throw refused;
        }
    }

    /** A pipe may never end, and a device has no end. */
    private static void requireRegular(Path file) {
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new WeightException(
                    file + " must be a safetensors file, but is a device or a pipe; save it as a file");
        }
    }

    private static long headerBytes(Path file, MemorySegment all) {
        if (all.byteSize() < Long.BYTES) {
            throw new WeightException(
                    file + ": a safetensors file begins with 8 bytes of header length, but this one has "
                            + all.byteSize() + " bytes in all; copy or download the file again");
        }
        long headerBytes = all.get(LENGTH, 0);
        long left = all.byteSize() - Long.BYTES;
        if (headerBytes < 0 || headerBytes > LONGEST_HEADER) {
            throw new WeightException(file + ": the header may have " + LONGEST_HEADER + " bytes at most, but claims "
                    + Long.toUnsignedString(headerBytes) + ": this is not a safetensors file");
        }
        if (headerBytes > left) {
            throw new WeightException(file + ": the header claims " + headerBytes + " bytes, but only " + left
                    + " follow: the file is truncated; copy or download it again");
        }
        return headerBytes;
    }

    public Path file() {
        return file;
    }

    /** Returns the texts of {@code __metadata__}, by key. */
    public Map<String, String> metadata() {
        return header.metadata();
    }

    /** Returns every tensor by name, in the order of the data. */
    public SequencedMap<String, StoredTensor> tensors() {
        return header.tensors();
    }

    /**
     * Returns one tensor's description.
     *
     * @throws WeightException if the file lacks it
     */
    public StoredTensor tensor(String name) {
        StoredTensor tensor = header.tensors().get(name);
        if (tensor == null) {
            throw new WeightException(file + " has no tensor " + quoted(name) + " among its " + tensors().size()
                    + "; use a file that holds it");
        }
        return tensor;
    }

    /** Returns the stored bytes of one tensor, read-only and maybe unaligned; valid until this file is closed. */
    public MemorySegment bytes(String name) {
        StoredTensor tensor = tensor(name);
        return data.asSlice(tensor.begin(), tensor.byteCount());
    }

    /**
     * Returns whether two tensors of one shape have the same values, in whatever types; false if one of them cannot be read
     * as floats.
     */
    public boolean hasSameValues(String name, SafeTensors other, String otherName) {
        StoredTensor one = tensor(name);
        StoredTensor two = other.tensor(otherName);
        if (!one.sizes().equals(two.sizes()) || !Conversion.READABLE_AS_FLOAT.contains(one.type())
                || !Conversion.READABLE_AS_FLOAT.contains(two.type())) {
            return false;
        }
        long perPiece = Progress.PIECE_BYTES / Double.BYTES; // exact
        for (long first = 0; first < one.elementCount(); first += perPiece) {
            long count = Math.min(perPiece, one.elementCount() - first);
            MemorySegment ofOne = piece(name, first, count);
            MemorySegment ofTwo = other.piece(otherName, first, count);
            boolean isSame = one.type() == two.type() && ofOne.mismatch(ofTwo) < 0;
            if (!isSame && !Arrays.equals(doubles(ofOne, one.type(), count), doubles(ofTwo, two.type(), count))) {
                return false;
            }
            Progress.moved();
        }
        return true;
    }

    private MemorySegment piece(String name, long first, long count) {
        int elementBytes = tensor(name).type().elementBytes();
        return bytes(name).asSlice(first * elementBytes, count * elementBytes);
    }

    /** With 0 for -0, which are equal numbers. */
    private static double[] doubles(MemorySegment bytes, StoredType type, long count) {
        double[] values = new double[Math.toIntExact(count)];
        Conversion.convert(bytes, type, DataType.FLOAT64, MemorySegment.ofArray(values));
        return Arrays.stream(values).map(value -> value + 0.0).toArray();
    }

    /**
     * Writes the values of one tensor, converted if it is stored in another type. Floating-point types convert into each
     * other; I32 and I64 into {@code INT32}, if they fit.
     *
     * @param target the bytes of shape and type; written little-endian
     * @throws WeightException if the tensor is missing, has another shape or cannot be converted
     */
    public void read(String name, Shape shape, DataType type, MemorySegment target) {
        StoredTensor tensor = tensor(name);
        if (!tensor.hasShape(shape)) {
            throw new WeightException(file + ": tensor " + quoted(name) + " must have shape " + shape + ", but has "
                    + tensor.shapeText() + "; use weights of the model that is configured");
        }
        if (target.byteSize() != shape.elementCount() * type.elementBytes()) {
            throw new IllegalArgumentException("tensor " + name + " as " + type + " needs "
                    + shape.elementCount() * type.elementBytes() + " bytes, but the target has " + target.byteSize());
        }
        try {
            convert(bytes(name), tensor.type(), type, target);
        } catch (WeightException refused) {
            throw new WeightException(file + ": tensor " + quoted(name) + " " + refused.getMessage(), refused);
        }
    }

    /**
     * As {@link #read}, and refuses NaN and infinity: one NaN among the weights makes every loss NaN, whatever the settings.
     *
     * @throws WeightException also if an element is NaN or infinite
     */
    public void readNumbers(String name, Shape shape, DataType type, MemorySegment target) {
        read(name, shape, type, target);
        requireNumbers(name, type, target, 0);
    }

    /**
     * Reads a tensor piece by piece, and refuses NaN and infinity as {@link #readNumbers} does.
     *
     * @throws WeightException also if the tensor is missing or cannot be converted
     */
    public void requireNumbers(String name, DataType type) {
        StoredTensor tensor = tensor(name);
        long perPiece = Progress.PIECE_BYTES / Double.BYTES; // exact
        try (Arena piece = Arena.ofConfined()) {
            MemorySegment values = piece.allocate(Math.min(perPiece, tensor.elementCount()) * type.elementBytes(),
                    type.elementBytes());
            for (long first = 0; first < tensor.elementCount(); first += perPiece) {
                long count = Math.min(perPiece, tensor.elementCount() - first);
                MemorySegment target = values.asSlice(0, count * type.elementBytes());
                Conversion.convert(piece(name, first, count), tensor.type(), type, target);
                requireNumbers(name, type, target, first);
                Progress.moved();
            }
        }
    }

    private void requireNumbers(String name, DataType type, MemorySegment values, long first) {
        OptionalLong wrong = Conversion.firstNotFinite(type, values);
        if (wrong.isPresent()) {
            throw new WeightException(file + ": tensor " + quoted(name) + " must hold finite numbers, but element "
                    + (first + wrong.getAsLong()) + " is " + Conversion.text(type, values, wrong.getAsLong())
                    + "; download the file again, or take weights from before they diverged");
        }
    }

    /** Converts floats piece by piece, since mapped memory is read on access. */
    private static void convert(MemorySegment source, StoredType from, DataType to, MemorySegment target) {
        if (to == DataType.INT32) {
            Conversion.convert(source, from, to, target);
            return;
        }
        long elements = target.byteSize() / to.elementBytes(); // exact
        long perPiece = Progress.PIECE_BYTES / to.elementBytes(); // exact
        for (long first = 0; first < elements; first += perPiece) {
            long count = Math.min(perPiece, elements - first);
            Conversion.convert(source.asSlice(first * from.elementBytes(), count * from.elementBytes()), from, to,
                    target.asSlice(first * to.elementBytes(), count * to.elementBytes()));
            Progress.moved();
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
