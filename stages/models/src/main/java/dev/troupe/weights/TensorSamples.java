package dev.troupe.weights;

import dev.troupe.tokenizer.file.Sha256;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.SortedMap;

/**
 * A short identity of tensors in files, from the first and last bytes of each. They suffice, since training changes all
 * elements of a tensor.
 */
public final class TensorSamples {
    private static final int SAMPLED_BYTES = 4096;
    private static final int SHOWN_BYTES = 8;

    private TensorSamples() {
    }

    /** Returns the identity of tensors, given the file of each by its name. */
    public static String identity(SortedMap<String, SafeTensors> files) {
        MessageDigest digest = Sha256.digest();
        files.forEach((name, file) -> {
            StoredTensor tensor = file.tensor(name);
            digest.update((name + tensor.type() + tensor.shapeText()).getBytes(StandardCharsets.UTF_8));
            MemorySegment bytes = file.bytes(name);
            long sampled = Math.min(SAMPLED_BYTES, bytes.byteSize());
            digest.update(bytes.asSlice(0, sampled).asByteBuffer());
            digest.update(bytes.asSlice(bytes.byteSize() - sampled, sampled).asByteBuffer());
        });
        return "sha256 " + HexFormat.of().formatHex(digest.digest(), 0, SHOWN_BYTES);
    }
}
