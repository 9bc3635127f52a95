package dev.troupe.snapshot;

import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.TensorPart;
import java.util.List;
import java.util.Map;

/**
 * The state of a stage that stays as it is until this is closed, whatever its rank keeps meanwhile: for who reads it at
 * leisure.
 *
 * <p>Thread rule: any thread, one at a time. To read it after its rank's snapshots are forgotten fails, and does no harm.
 */
public final class PinnedState implements AutoCloseable {
    private final KeptState kept;
    private final SnapshotLayout layout;
    private final List<OwnSnapshot.OfFiles> ofFiles;
    private final Runnable release;

    /**
     * @param ofFiles
     *            what of it files have
     * @param release
     *            called when it is closed
     */
    PinnedState(OwnSnapshot snapshot, long writing, List<OwnSnapshot.OfFiles> ofFiles, Runnable release) {
        this.kept = new KeptState(snapshot, writing);
        this.layout = snapshot.layout();
        this.ofFiles = ofFiles;
        this.release = release;
    }

    /** Weights and optimizer state as files have them, without what another rank writes too. */
    public List<TensorPart> parts() {
        Map<String, SnapshotLayout.Region> regions = layout.regions();
        return ofFiles.stream().map(named -> {
            SnapshotLayout.Region region = regions.get(named.name());
            return new TensorPart(
                    new NamedTensor(named.name(), region.shape(), region.type(),
                            target -> kept.read(named.name(), region.shape(), region.type(), target)),
                    named.slice());
        }).toList();
    }

    @Override
    public void close() {
        release.run();
    }
}
