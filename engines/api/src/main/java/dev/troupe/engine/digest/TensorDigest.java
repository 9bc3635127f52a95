package dev.troupe.engine.digest;

import dev.troupe.engine.ElementwiseKernels;
import dev.troupe.engine.Memory;
import dev.troupe.engine.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * Digests on the host, for an engine that has finished its work when a call returns; without a copy if tensors are in native
 * memory.
 *
 * <p>Thread rule: the rule of kernels; {@link #read} on any thread.
 */
public final class TensorDigest {
    /** Fits the second-level cache of a core. */
    private static final int PIECE_BYTES = 4 * BitHash.CHUNK_BYTES;
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final Memory memory;
    private final BitHash hash = new BitHash();
    private final Arena arena = Arena.ofAuto();
    private final MemorySegment result = arena.allocate(WORD);
    /** Null until a tensor must be copied. */
    private MemorySegment piece;

    public TensorDigest(Memory memory) {
        this.memory = memory;
    }

    public void write(Tensor tensor, Tensor digests, int index) {
        result.set(WORD, 0, of(tensor));
        memory.copyFromHost(result, digests, Long.BYTES * (long) index);
    }

    /** Returns the digest of a tensor of any type. */
    public long of(Tensor tensor) {
        hash.begin(tensor.dataType());
        Optional<MemorySegment> own = memory.hostMemory(tensor);
        if (own.isPresent()) {
            hash.add(own.get());
        } else {
            addCopied(tensor);
        }
        return hash.digest();
    }

    private void addCopied(Tensor tensor) {
        if (piece == null) {
            piece = arena.allocate(PIECE_BYTES, Long.BYTES);
        }
        for (long at = 0; at < tensor.byteCount(); at += PIECE_BYTES) {
            MemorySegment part = piece.asSlice(0, Math.min(PIECE_BYTES, tensor.byteCount() - at));
            memory.copyToHost(tensor, at, part);
            hash.add(part);
        }
    }

    /** The digest at an index of the bytes of a tensor of digests. */
    public static long read(MemorySegment digests, int index) {
        return digests.get(WORD, Long.BYTES * (long) index);
    }
}
