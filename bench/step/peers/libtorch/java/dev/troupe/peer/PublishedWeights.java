package dev.troupe.peer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** Tensors of a safetensors file in float32. The reader is this peer's own, so that it shares no code with Troupe. */
final class PublishedWeights {
    private final Path file;
    private final ByteBuffer data;
    private final JsonNode header;

    private PublishedWeights(Path file, ByteBuffer data, JsonNode header) {
        this.file = file;
        this.data = data;
        this.header = header;
    }

    /** Maps a file of less than 2 GiB. */
    static PublishedWeights open(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer all = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size())
                    .order(ByteOrder.LITTLE_ENDIAN);
            byte[] json = new byte[Math.toIntExact(all.getLong())];
            all.get(json);
            return new PublishedWeights(file, all.slice().order(ByteOrder.LITTLE_ENDIAN),
                    new JsonMapper().readTree(json));
        }
    }

    /** A trainable copy of a tensor. */
    Tensor parameter(String name) {
        return copy(name).set_requires_grad(true);
    }

    /** A trainable copy of a matrix {@code [in x out]} as {@code [out x in]}, the form of a linear layer's weight. */
    Tensor transposedParameter(String name) {
        try (Tensor copy = copy(name); Tensor turned = copy.t()) {
            return turned.contiguous().set_requires_grad(true);
        }
    }

    private Tensor copy(String name) {
        JsonNode entry = header.path(name);
        if (!"F32".equals(entry.path("dtype").asText())) {
            throw new IllegalArgumentException(
                    file + " must have the tensor " + name + " in F32, but has " + entry + " there");
        }
        int begin = entry.path("data_offsets").path(0).intValue();
        int end = entry.path("data_offsets").path(1).intValue();
        float[] values = new float[(end - begin) / Float.BYTES];
        data.slice(begin, end - begin).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(values);
        long[] shape = new long[entry.path("shape").size()];
        for (int i = 0; i < shape.length; i++) {
            shape[i] = entry.path("shape").path(i).longValue();
        }
        try (Tensor flat = torch.tensor(values)) {
            return flat.view(shape);
        }
    }
}
