package dev.troupe.bits;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Digests of an engine's tensors, where they lie in native memory without a copy.
 *
 * <p>Thread rule: the engine's thread.
 */
final class TensorDigest implements AutoCloseable {
    /** Fits the second-level cache of a core. */
    private static final int CHUNK_BYTES = 1 << 16;

    private final Engine engine;
    private final BitHash hash = new BitHash();
    private final Arena arena = Arena.ofShared();
    /** Null until a tensor must be copied. */
    private MemorySegment chunk;

    TensorDigest(Engine engine) {
        this.engine = engine;
    }

    long of(Tensor tensor) {
        hash.begin(tensor.dataType());
        Optional<MemorySegment> own = engine.hostMemory(tensor);
        if (own.isPresent()) {
            hash.add(own.get());
        } else {
            addCopied(tensor);
        }
        return hash.digest();
    }

    private void addCopied(Tensor tensor) {
        if (chunk == null) {
            chunk = arena.allocate(CHUNK_BYTES, Long.BYTES);
        }
        for (long at = 0; at < tensor.byteCount(); at += CHUNK_BYTES) {
            MemorySegment part = chunk.asSlice(0, Math.min(CHUNK_BYTES, tensor.byteCount() - at));
            engine.copyToHost(tensor, at, part);
            hash.add(part);
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
