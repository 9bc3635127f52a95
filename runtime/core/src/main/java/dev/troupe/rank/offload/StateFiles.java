package dev.troupe.rank.offload;

import dev.troupe.offload.StateRegion;
import dev.troupe.offload.StateStore;
import dev.troupe.plan.memory.MemoryPlan;
import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/**
 * The store of a rank's state in files of a directory. The room of a file is filled before it is used.
 * If the disk has no room for it, or fails later, the state is in memory from then on, with a sentence for the user.
 */
public final class StateFiles implements StateStore {
    private final Path directory;
    private final int rank;
    private final StateDisk disk;
    private final Consumer<String> notice;
    private final Queue<FileRegion> opened = new ConcurrentLinkedQueue<>();

    /** @param notice receives a sentence if state stays in memory; on the thread that writes */
    public StateFiles(Path directory, int rank, Consumer<String> notice) {
        this(directory, rank, notice, StateDisk.REAL);
    }

    StateFiles(Path directory, int rank, Consumer<String> notice, StateDisk disk) {
        this.directory = directory;
        this.rank = rank;
        this.notice = notice;
        this.disk = disk;
    }

    @Override
    public StateRegion open(long byteCount) {
        FileRegion region = new FileRegion(byteCount, why -> notice.accept("Offloaded state of rank " + rank
                + " (" + MemoryPlan.text(byteCount) + ") is in memory from now on, and the run"
                + " continues without its file in " + directory + ": " + why));
        opened.add(region);
        try {
            Files.createDirectories(directory);
            region.begin(disk.create(directory, "rank-" + rank + "-"));
        } catch (IOException failure) {
            region.moveToMemory(FileReason.of(failure));
        }
        return region;
    }

    @Override
    public void close() {
        opened.forEach(FileRegion::close);
    }
}
