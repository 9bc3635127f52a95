package dev.troupe.weights;

import static dev.troupe.weights.Wording.quoted;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.tokenizer.file.FileReason;
import dev.troupe.tokenizer.file.WholeFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The writer of safetensors files. The same tensors give the same bytes, whatever their order: widest elements first, then
 * by name, with the metadata sorted by key.
 */
public final class SafeTensorsWriter {
    private static final JsonMapper JSON = new JsonMapper();
    // Wider elements first and a header of a multiple of eight bytes keep every element aligned in a mapping.
    private static final Comparator<NamedTensor> ORDER = Comparator
            .<NamedTensor>comparingInt(tensor -> -tensor.type().elementBytes()).thenComparing(NamedTensor::name);
    private static final int ALIGNMENT = 8;
    /** Pieces between two waits for the disk, so that the end does not wait for the whole file. */
    private static final int PIECES_UNFORCED = 16;

    private SafeTensorsWriter() {
    }

    /**
     * Writes a file whole or not at all: under a temporary name in the same directory, forced to the disk, then renamed over
     * {@code file}.
     *
     * @param metadata the texts of {@code __metadata__}
     * @throws WeightException if the file cannot be written; an older file of that name is then untouched
     */
    public static void write(Path file, Map<String, String> metadata, Collection<NamedTensor> tensors) {
        try (WholeFile whole = WholeFile.create(file)) {
            write(whole.channel(), metadata, tensors);
            whole.commit();
        } catch (IOException failure) {
            throw new WeightException("cannot write " + file + ": " + FileReason.of(failure), failure);
        }
    }

    public static void write(FileChannel channel, Map<String, String> metadata, Collection<NamedTensor> tensors)
            throws IOException {
        List<NamedTensor> ordered = new ArrayList<>(tensors);
        ordered.sort(ORDER);
        requireUniqueNames(ordered);
        byte[] header = header(metadata, ordered);
        ByteBuffer start = ByteBuffer.allocate(Long.BYTES + header.length).order(ByteOrder.LITTLE_ENDIAN);
        start.putLong(header.length).put(header).flip();
        writeFully(channel, start);
        long largest = ordered.stream().mapToLong(NamedTensor::byteCount).max().orElse(0);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(Math.max(1, largest), ALIGNMENT);
            int pieces = 0;
            for (NamedTensor tensor : ordered) {
                MemorySegment values = buffer.asSlice(0, tensor.byteCount());
                tensor.values().copyTo(values);
                for (long from = 0; from < values.byteSize(); from += Progress.PIECE_BYTES) {
                    writeFully(channel, values.asSlice(from, Math.min(Progress.PIECE_BYTES, values.byteSize() - from))
                            .asByteBuffer());
                    Progress.moved();
                    if (++pieces % PIECES_UNFORCED == 0) {
                        channel.force(false);
                    }
                }
            }
        }
    }

    private static void requireUniqueNames(List<NamedTensor> tensors) {
        Set<String> names = new HashSet<>();
        for (NamedTensor tensor : tensors) {
            if (tensor.name().equals(SafeTensorsHeader.METADATA) || !names.add(tensor.name())) {
                throw new IllegalArgumentException(
                        "tensors of a file must have names that differ from each other and from "
                                + SafeTensorsHeader.METADATA + ", but found " + quoted(tensor.name())
                                + " once too often");
            }
        }
    }

    private static byte[] header(Map<String, String> metadata, List<NamedTensor> tensors) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator json = JSON.createGenerator(bytes)) {
            json.writeStartObject();
            if (!metadata.isEmpty()) {
                json.writePOJOField(SafeTensorsHeader.METADATA, new TreeMap<>(metadata));
            }
            long begin = 0;
            for (NamedTensor tensor : tensors) {
                long end = begin + tensor.byteCount();
                json.writeObjectFieldStart(tensor.name());
                json.writeStringField("dtype", StoredType.of(tensor.type()).name());
                json.writeFieldName("shape");
                int[] sizes = tensor.shape().toArray();
                json.writeArray(sizes, 0, sizes.length);
                json.writeFieldName("data_offsets");
                json.writeArray(new long[]{begin, end}, 0, 2);
                json.writeEndObject();
                begin = end;
            }
            json.writeEndObject();
        }
        while (bytes.size() % ALIGNMENT != 0) {
            bytes.write(' ');
        }
        return bytes.toByteArray();
    }

    private static void writeFully(FileChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }
}
