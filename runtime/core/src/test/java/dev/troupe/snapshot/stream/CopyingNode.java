package dev.troupe.snapshot.stream;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.collective.peer.Host;
import dev.troupe.rank.snapshot.Snapshots;
import dev.troupe.snapshot.copy.SnapshotCopies;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.tcp.Connections;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** A node that copies to others, through a media driver or over connections, with its snapshots. */
final class CopyingNode implements AutoCloseable {
    static final long PATIENCE_SECONDS = 30;

    final Snapshots snapshots;
    final SnapshotCopies copies;
    /** The copying thread waits here before it takes more. */
    volatile CountDownLatch gate = new CountDownLatch(0);
    private final Optional<Connections> connections;
    private final BlockingQueue<Copied> copied = new LinkedBlockingQueue<>();

    /** A version of a stage that has come. */
    record Copied(int rank, int stage, long stepsDone) {
    }

    CopyingNode(int self, Host machine, List<Endpoint> endpoints) {
        this(self, machine, self + 1, false, endpoints);
    }

    CopyingNode(int self, Host machine, int receiverId, boolean shares, List<Endpoint> endpoints) {
        this(new NodeMap(self, List.of(0, 1, 2), endpoints, Set.of()), machine.directory(), Optional.empty(),
                receiverId, shares);
    }

    /**
     * @param connections closed with the node
     */
    CopyingNode(NodeMap map, Path directory, Optional<Connections> connections, int receiverId, boolean shares) {
        this.connections = connections;
        snapshots = new Snapshots(shares);
        copies = StreamedCopies.connect(map, TransportSettings.defaults(), directory, connections, snapshots,
                this::onCopied, receiverId);
    }

    private void onCopied(int rank, int stage, long stepsDone) {
        copied.add(new Copied(rank, stage, stepsDone));
        try {
            assertTrue(gate.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    Copied next() throws InterruptedException {
        Copied next = copied.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertNotNull(next, "nothing came within " + PATIENCE_SECONDS + " seconds");
        return next;
    }

    static void await(BooleanSupplier condition, String what) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "not within " + PATIENCE_SECONDS + " seconds: " + what);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    @Override
    public void close() {
        gate.countDown();
        copies.close();
        snapshots.close();
        connections.ifPresent(Connections::close);
    }
}
