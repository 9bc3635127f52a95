package dev.troupe.run.cluster;

import dev.troupe.rank.fault.FaultyTransport;
import dev.troupe.rank.fault.ProcessDamage;
import dev.troupe.run.cluster.liveness.LivenessConnections;
import dev.troupe.transport.driver.DriverDirectory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The damage to a node of a cluster. Thread rule: any thread; damage to a part that does not exist yet is done when it
 * exists.
 */
final class ClusterDamage extends ProcessDamage {
    private final Path driverDirectory;
    private final LivenessConnections connections;
    private final CompletableFuture<ControlLink> control = new CompletableFuture<>();
    private final CompletableFuture<FaultyTransport> data = new CompletableFuture<>();
    private final AtomicBoolean leads = new AtomicBoolean();

    ClusterDamage(Path driverDirectory, LivenessConnections connections) {
        this.connections = connections;
        this.driverDirectory = driverDirectory;
    }

    void has(ControlLink link) {
        control.complete(link);
    }

    void has(FaultyTransport transport) {
        data.complete(transport);
    }

    /** Records that the coordinator is on this node. */
    void lead() {
        leads.set(true);
    }

    @Override
    public void killDriver() {
        OptionalLong driver = DriverDirectory.processOf(driverDirectory);
        if (driver.isPresent()) {
            kill(driver.getAsLong());
        }
    }

    @Override
    public void cutControl(Duration length) {
        control.thenAccept(link -> link.cut(length));
    }

    @Override
    public void cutBoth(Duration length) {
        super.cutBoth(length);
        connections.cut(length);
    }

    @Override
    public void cutData(Duration length) {
        data.thenAccept(transport -> transport.cut(length));
    }

    @Override
    public boolean leads() {
        return leads.get();
    }
}
