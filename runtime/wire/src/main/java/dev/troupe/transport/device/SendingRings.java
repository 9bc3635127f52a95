package dev.troupe.transport.device;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Memory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.agrona.collections.Long2ObjectHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rings that a stream's writer has opened, by pairs of ranks. The first message of a pair decides whether it has a ring:
 * the receiver has written the note before it granted that message's credit.
 *
 * <p>Thread rule: the transport's thread.
 *
 * @param <M> the type of a message
 */
public final class SendingRings<M> {
    private static final Logger LOG = LoggerFactory.getLogger(SendingRings.class);

    private final RingFiles files;
    private final int pieceBytes;
    /** Empty values are pairs with payloads through the host. */
    private final Long2ObjectHashMap<Optional<SendingRing<M>>> rings = new Long2ObjectHashMap<>();
    private final List<SendingRing<M>> open = new ArrayList<>();

    /** Creates the rings of a stream, with pieces of at most {@code pieceBytes} bytes. */
    public SendingRings(RingFiles files, int pieceBytes) {
        this.files = files;
        this.pieceBytes = pieceBytes;
    }

    /** Returns the ring of a pair of ranks; empty if its payloads go through the host. */
    public Optional<SendingRing<M>> of(int fromRank, int toRank, Engine engine) {
        long pair = RingFiles.pair(fromRank, toRank);
        Optional<SendingRing<M>> known = rings.get(pair);
        if (known == null) {
            known = find(fromRank, toRank, engine);
            rings.put(pair, known);
            known.ifPresent(open::add);
        }
        return known;
    }

    private Optional<SendingRing<M>> find(int fromRank, int toRank, Engine engine) {
        Path file = files.of(fromRank, toRank);
        Optional<RingNote> note;
        try {
            note = RingNote.open(file);
        } catch (IOException unusable) {
            tell(fromRank, toRank, "the note of its ring cannot be used: " + unusable);
            return Optional.empty();
        }
        return note.flatMap(found -> open(fromRank, toRank, engine, found));
    }

    private Optional<SendingRing<M>> open(int fromRank, int toRank, Engine engine, RingNote note) {
        try {
            Optional<Memory.Shared> memory = engine.openShared(note.handle());
            if (memory.isPresent()) {
                LOG.info("tensors from rank {} to rank {} stay on the device", fromRank, toRank);
                return Optional.of(new SendingRing<>(note, memory.get(), pieceBytes));
            }
            tell(fromRank, toRank, "their devices do not reach each other");
        } catch (RuntimeException refused) {
            tell(fromRank, toRank, refused.getMessage());
        }
        note.refuse();
        try {
            note.close();
        } catch (IOException left) {
            LOG.debug("a note did not close", left);
        }
        return Optional.empty();
    }

    private static void tell(int fromRank, int toRank, String why) {
        LOG.warn("tensors from rank {} to rank {} go by way of the host: {}", fromRank, toRank, why);
    }

    public List<SendingRing<M>> open() {
        return open;
    }

    /** Returns whether a piece waits for its copy or its frame. */
    public boolean isBusy() {
        for (int ring = 0; ring < open.size(); ring++) {
            if (open.get(ring).isBusy()) {
                return true;
            }
        }
        return false;
    }

    /** Calls {@link SendingRing#withdraw} on all rings. */
    public void withdraw(Predicate<M> messages) {
        open.forEach(ring -> ring.withdraw(messages));
    }

    public void close() {
        withdraw(_ -> true);
        open.forEach(SendingRing::close);
        open.clear();
        rings.clear();
    }
}
