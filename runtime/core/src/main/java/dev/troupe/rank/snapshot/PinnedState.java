package dev.troupe.rank.snapshot;

import dev.troupe.snapshot.copy.SnapshotLayout;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.TensorPart;
import java.util.List;
import java.util.Map;

/**
 * The state of a stage for a slow reader: it does not change before {@link #close}, although its rank takes other snapshots.
 * Thread rule: any thread, one at a time. After the rank's snapshots are forgotten a read fails, without damage.
 */
public final class PinnedState implements AutoCloseable {
    private final KeptState kept;
    private final SnapshotLayout layout;
    private final List<OwnSnapshot.OfFiles> ofFiles;
    private final Runnable release;

    /**
     * @param ofFiles the tensors that the rank writes to files
     * @param release called by {@link #close}
     */
    PinnedState(Snapshot snapshot, long writing, List<OwnSnapshot.OfFiles> ofFiles, Runnable release) {
        this.kept = new KeptState(snapshot, writing);
        this.layout = snapshot.layout();
        this.ofFiles = ofFiles;
        this.release = release;
    }

    /** Returns weights and optimizer state in file layout, without copies that another rank writes. */
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
