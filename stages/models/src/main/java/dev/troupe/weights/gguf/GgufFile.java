package dev.troupe.weights.gguf;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.model.GgufModel;
import dev.troupe.model.GgufTensor;
import dev.troupe.model.GgufTensor.Order;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.tokenizer.file.FileReason;
import dev.troupe.tokenizer.file.WholeFile;
import dev.troupe.weights.Progress;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A model as one file of GGUF version 3, the format that llama.cpp reads (ggml's {@code docs/gguf.md}). Immutable; any
 * thread may write it.
 */
public final class GgufFile {
    private static final byte[] MAGIC = "GGUF".getBytes(StandardCharsets.US_ASCII);
    private static final int VERSION = 3;
    private static final int QUANTIZATION_VERSION = 2;
    private static final int ALIGNMENT = 32;
    private static final int PIECE_BYTES = 1 << 24;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final ModelSpec model;
    private final List<Stored> tensors;
    private final byte[] head;
    private final long dataBytes;

    /**
     * A tensor with its place.
     *
     * @param rows as they are stored; 1 for a vector
     * @param isVector whether it has one dimension
     * @param stacked the number of matrices that are stacked; 0 if none are
     * @param offset of its first byte after the head
     */
    private record Stored(GgufTensor tensor, GgufType type, int rows, int width, boolean isVector, int stacked,
            long offset) {
        long byteCount() {
            return Math.max(1, stacked) * rows * type.rowBytes(width);
        }

        /** Returns the tensors of which one at a time is in memory. */
        List<GgufTensor> parts() {
            return tensor instanceof GgufTensor.Stacked(String name, List<String> parameters)
                    ? parameters.stream().<GgufTensor>map(
                            parameter -> new GgufTensor.OfParameter(name, parameter, new Order.Same(), false)).toList()
                    : List.of(tensor);
        }
    }

    private GgufFile(ModelSpec model, GgufModel declared, GgufType type, GgufMetadata metadata) {
        this.model = model;
        this.tensors = placed(model, declared.tensors(), type);
        Stored last = tensors.getLast();
        this.dataBytes = aligned(last.offset() + last.byteCount());
        this.head = head(metadata, tensors);
    }

    /**
     * Declares the file of a model.
     *
     * @param type of the matrices; vectors are stored as float32, and a matrix with rows of no whole blocks as float16
     * @param name the name of the model for people
     * @throws WeightException if llama.cpp does not compute the model
     * @throws dev.troupe.tokenizer.file.TokenizerException if the tokenizer has tokens that the model does not know
     */
    public static GgufFile of(ModelSpec model, GgufType type, GgufVocabulary vocabulary, String name) {
        GgufModel declared = model.family().gguf(model)
                .orElseThrow(() -> new WeightException("a " + model.family().title()
                        + " model cannot be written as GGUF, since llama.cpp does not compute the family: take --format"
                        + " huggingface"));
        int vocabularySize = model.size(Axis.VOCABULARY);
        vocabulary.requireWithin(vocabularySize);
        GgufMetadata metadata = new GgufMetadata();
        metadata.put("general.architecture", declared.architecture());
        metadata.put("general.type", "model");
        metadata.put("general.name", name);
        metadata.put("general.file_type", type.fileCode());
        metadata.put("general.quantization_version", QUANTIZATION_VERSION);
        metadata.put("general.alignment", ALIGNMENT);
        declared.settings().forEach((key, value) -> {
            String whole = declared.architecture() + "." + key;
            switch (value) {
                case Integer number -> metadata.put(whole, number);
                case Boolean flag -> metadata.put(whole, flag);
                default -> metadata.put(whole, ((Number) value).floatValue());
            }
        });
        vocabulary.putInto(metadata, vocabularySize);
        return new GgufFile(model, declared, type, metadata);
    }

    private static List<Stored> placed(ModelSpec model, List<GgufTensor> tensors, GgufType type) {
        List<Stored> placed = new ArrayList<>();
        long offset = 0;
        for (GgufTensor tensor : tensors) {
            Stored stored = switch (tensor) {
                case GgufTensor.Constant constant ->
                    new Stored(tensor, GgufType.F32, 1, constant.values().size(), true, 0, offset);
                case GgufTensor.OfParameter parameter -> ofParameter(model, parameter, type, offset);
                case GgufTensor.Stacked(String _, List<String> parameters) -> {
                    Shape shape = model.parameters().get(parameters.getFirst()).shape().sizes();
                    yield new Stored(tensor, type.ofRow(shape.size(1)), shape.size(0), shape.size(1), false,
                            parameters.size(), offset);
                }
            };
            placed.add(stored);
            offset = aligned(offset + stored.byteCount());
        }
        return placed;
    }

    private static Stored ofParameter(ModelSpec model, GgufTensor.OfParameter tensor, GgufType type, long offset) {
        Shape shape = model.parameters().get(tensor.parameter()).shape().sizes();
        if (shape.rank() == 1) {
            return new Stored(tensor, GgufType.F32, 1, shape.size(0), true, 0, offset);
        }
        boolean isTransposed = tensor.order() instanceof Order.Transposed;
        int rows = shape.size(isTransposed ? 1 : 0);
        int width = shape.size(isTransposed ? 0 : 1);
        return new Stored(tensor, tensor.isAlwaysFloat32() ? GgufType.F32 : type.ofRow(width), rows, width, false,
                0, offset);
    }

    private static long aligned(long offset) {
        return Math.ceilDiv(offset, ALIGNMENT) * ALIGNMENT;
    }

    /** Returns the bytes before the values, padded to the alignment. */
    private static byte[] head(GgufMetadata metadata, List<Stored> tensors) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(MAGIC);
        GgufMetadata.int32(bytes, VERSION);
        GgufMetadata.int64(bytes, tensors.size());
        GgufMetadata.int64(bytes, metadata.count());
        bytes.writeBytes(metadata.bytes());
        for (Stored stored : tensors) {
            GgufMetadata.text(bytes, stored.tensor().name());
            GgufMetadata.int32(bytes, stored.isVector() ? 1 : stored.stacked() > 0 ? 3 : 2);
            GgufMetadata.int64(bytes, stored.width()); // ggml counts dimensions from the innermost
            if (!stored.isVector()) {
                GgufMetadata.int64(bytes, stored.rows());
            }
            if (stored.stacked() > 0) {
                GgufMetadata.int64(bytes, stored.stacked());
            }
            GgufMetadata.int32(bytes, stored.type().code());
            GgufMetadata.int64(bytes, stored.offset());
        }
        while (bytes.size() % ALIGNMENT != 0) {
            bytes.write(0);
        }
        return bytes.toByteArray();
    }

    public long byteCount() {
        return head.length + dataBytes;
    }

    /**
     * Writes the file whole or not at all. One tensor at a time is in memory, as float32.
     *
     * @throws WeightException if the file cannot be written, or a weight is too large for the type
     */
    public void write(Path file, WeightSource weights) {
        try (WholeFile whole = WholeFile.create(file)) {
            FileChannel channel = whole.channel();
            writeFully(channel, ByteBuffer.wrap(head));
            ByteBuffer piece = ByteBuffer.allocate(PIECE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            for (Stored stored : tensors) {
                for (GgufTensor part : stored.parts()) {
                    try (Arena arena = Arena.ofConfined()) {
                        writeRows(channel, stored, values(stored, part, weights, arena), piece);
                    } catch (GgufType.Overflow overflow) {
                        throw new WeightException(stored.tensor().name() + " " + overflow.getMessage(), overflow);
                    }
                }
                writeFully(channel, ByteBuffer.allocate(
                        (int) (aligned(stored.offset() + stored.byteCount()) - stored.offset() - stored.byteCount())));
                channel.force(false);
            }
            whole.commit();
        } catch (IOException failure) {
            throw new WeightException("cannot write " + file + ": " + FileReason.of(failure), failure);
        }
    }

    /** Returns the values of a tensor, or of a part of it. */
    private MemorySegment values(Stored stored, GgufTensor part, WeightSource weights, Arena arena) {
        MemorySegment values = arena.allocate((long) stored.rows() * stored.width() * Float.BYTES, Float.BYTES);
        switch (part) {
            case GgufTensor.Constant constant -> {
                for (int i = 0; i < stored.width(); i++) {
                    values.setAtIndex(FLOAT, i, constant.values().get(i));
                }
            }
            case GgufTensor.OfParameter parameter -> weights.read(parameter.parameter(),
                    model.parameters().get(parameter.parameter()).shape().sizes(), DataType.FLOAT32, values);
            case GgufTensor.Stacked stacked -> throw new IllegalArgumentException(stacked + " is not read at once");
        }
        return values;
    }

    private static void writeRows(FileChannel channel, Stored stored, MemorySegment values, ByteBuffer piece)
            throws IOException {
        float[] row = new float[stored.width()];
        long rowBytes = stored.type().rowBytes(row.length);
        ByteBuffer target = rowBytes > piece.capacity()
                ? ByteBuffer.allocate(Math.toIntExact(rowBytes)).order(ByteOrder.LITTLE_ENDIAN)
                : piece;
        target.clear();
        for (int number = 0; number < stored.rows(); number++) {
            fill(row, number, stored, values);
            if (target.remaining() < rowBytes) {
                writeFully(channel, target.flip());
                Progress.moved();
                target.clear();
            }
            stored.type().put(row, target);
        }
        writeFully(channel, target.flip());
        Progress.moved();
    }

    /** Takes a row of the file from the values of the parameter. */
    private static void fill(float[] row, int number, Stored stored, MemorySegment values) {
        Order order = stored.tensor() instanceof GgufTensor.OfParameter parameter
                ? parameter.order()
                : new Order.Same();
        long first = number;
        switch (order) {
            case Order.Same() -> {
            }
            case Order.NeighbouringPairs(int heads) -> {
                int headSize = stored.rows() / heads;
                int inHead = number % headSize;
                first = (long) number - inHead + inHead % 2 * (headSize / 2) + inHead / 2;
            }
            case Order.Transposed() -> {
                for (int i = 0; i < row.length; i++) {
                    row[i] = values.getAtIndex(FLOAT, (long) i * stored.rows() + number);
                }
                return;
            }
        }
        MemorySegment.copy(values, FLOAT, first * row.length * Float.BYTES, row, 0, row.length);
    }

    private static void writeFully(FileChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }
}
