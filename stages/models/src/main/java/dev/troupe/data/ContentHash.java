package dev.troupe.data;

import dev.troupe.tokenizer.file.Sha256;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.LongStream;

/**
 * A name for the content of some texts: SHA-256 over the SHA-256 of each of their blocks, which are computed in parallel.
 * One thread at a time.
 */
final class ContentHash {
    private static final long BLOCK_BYTES = 1 << 24;

    private final MessageDigest whole = Sha256.digest();

    /**
     * Begins a hash.
     *
     * @param purpose the purpose of the name, which is part of the hash
     */
    ContentHash(String purpose) {
        whole.update((purpose + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** Adds a text with its length, so that concatenations hash differently. */
    void add(MemorySegment text) {
        whole.update((text.byteSize() + "\n").getBytes(StandardCharsets.UTF_8));
        List<byte[]> blocks = LongStream.range(0, Math.ceilDiv(text.byteSize(), BLOCK_BYTES)).parallel()
                .mapToObj(block -> {
                    MessageDigest own = Sha256.digest();
                    long from = block * BLOCK_BYTES;
                    own.update(text.asSlice(from, Math.min(BLOCK_BYTES, text.byteSize() - from)).asByteBuffer());
                    return own.digest();
                }).toList();
        blocks.forEach(whole::update);
    }

    /** Returns the name, in hexadecimal digits; nothing may be added any more. */
    String text() {
        return HexFormat.of().formatHex(whole.digest());
    }
}
