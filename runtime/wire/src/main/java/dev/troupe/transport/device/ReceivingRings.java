package dev.troupe.transport.device;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Memory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.agrona.collections.LongHashSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rings that a stream's reader offers to its writer: one for each pair of ranks if the receiver's engine can share
 * memory. A ring that the writer refuses is closed.
 *
 * <p>Thread rule: the transport's thread.
 *
 * @param <P> the type of a payload's place
 */
public final class ReceivingRings<P> {
    private static final Logger LOG = LoggerFactory.getLogger(ReceivingRings.class);

    private final RingFiles files;
    private final long ringBytes;
    private final LongHashSet pairs = new LongHashSet();
    /** The rings by number; null for a ring that the writer has refused. */
    private final List<ReceivingRing<P>> rings = new ArrayList<>();

    /** Creates the rings of a stream, with {@code ringBytes} bytes each. */
    public ReceivingRings(RingFiles files, long ringBytes) {
        this.files = files;
        this.ringBytes = ringBytes;
    }

    /** Offers a ring for a pair of ranks; called when a buffer is granted, before the sender has the credit. */
    public void expect(int fromRank, int toRank, Engine engine) {
        if (pairs.add(RingFiles.pair(fromRank, toRank)) && rings.size() < Stamp.MOST_RINGS) {
            try {
                Optional<Memory.Shared> memory = engine.share(ringBytes);
                if (memory.isPresent()) {
                    rings.add(offer(fromRank, toRank, memory.get()));
                }
            } catch (IOException | RuntimeException refused) {
                LOG.warn(
                        "tensors from rank {} to rank {} go by way of the host: no memory of the receiver's device can be"
                                + " shared: {}",
                        fromRank, toRank, refused.getMessage());
            }
        }
    }

    private ReceivingRing<P> offer(int fromRank, int toRank, Memory.Shared memory) throws IOException {
        try {
            return new ReceivingRing<>(RingNote.write(files.of(fromRank, toRank), rings.size(), memory.handle()),
                    memory);
        } catch (IOException | RuntimeException unwritten) {
            memory.close();
            throw unwritten;
        }
    }

    /** Returns the ring of a frame with this reserved value, or null. */
    public ReceivingRing<P> of(long stamp) {
        int number = Stamp.number(stamp);
        return number < rings.size() ? rings.get(number) : null;
    }

    public boolean isBusy() {
        for (int number = 0; number < rings.size(); number++) {
            if (rings.get(number) != null && rings.get(number).isBusy()) {
                return true;
            }
        }
        return false;
    }

    /** Calls {@link ReceivingRing#progress} on all rings. */
    public int progress(BiConsumer<P, RuntimeException> listener) {
        int count = 0;
        for (int number = 0; number < rings.size(); number++) {
            ReceivingRing<P> ring = rings.get(number);
            if (ring != null) {
                count += ring.progress(listener);
                if (ring.isRefused() && ring.close()) {
                    rings.set(number, null);
                }
            }
        }
        return count;
    }

    /** Calls {@link ReceivingRing#settle} on all rings. */
    public void settle() {
        rings.forEach(ring -> {
            if (ring != null) {
                ring.settle();
            }
        });
    }

    /** Ends the use of all rings; their memory is freed after their writers have closed it or ended. */
    public void close(RetiredRings retired) {
        settle();
        rings.forEach(ring -> {
            if (ring != null) {
                retired.add(ring);
            }
        });
        rings.clear();
    }
}
