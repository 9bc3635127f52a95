package dev.troupe.plan.checkpoint;

import dev.troupe.model.ModelSpec;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.checkpoint.CheckpointPart;
import dev.troupe.tokenizer.file.FileReason;
import dev.troupe.weights.ShardedWeights;
import dev.troupe.weights.TensorPart;
import dev.troupe.weights.WeightException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The writer of a run's checkpoints: {@code checkpoints/step-000100/} contains {@code rank-000.safetensors} and so on, and
 * {@code manifest.json}. Everything is written under {@code step-000100.partial}, the manifest last; then one atomic rename
 * commits the checkpoint. So a directory without this suffix is always whole.
 *
 * <p>Thread rule: {@link #writePart} by one thread per rank, {@link #commit} once, after all parts are written.
 */
public final class CheckpointStore {
    /** Room for headers and the manifest, and for the run's other files, which it needs to continue. */
    static final long OVERHEAD_BYTES = 1 << 20;
    /** The key of the steps in the metadata of a part. */
    static final String STEPS_DONE = "steps_done";
    private static final Logger LOG = LoggerFactory.getLogger(CheckpointStore.class);

    private final Path runDirectory;
    private final CheckpointFolder folder;
    private final ModelSpec model;
    private final String products;
    private final int kept;
    private final long expectedBytes;
    private final Disk disk;
    private final List<Integer> replicas;

    /**
     * @param runDirectory the directory of the run; {@code checkpoints} is created in it with the first checkpoint
     * @param model the model, named in every manifest
     * @param products the libraries of matrix products, named in every manifest
     * @param kept number of the newest to keep; 0: all
     * @param expectedBytes bytes of the tensors of one checkpoint
     */
    public CheckpointStore(Path runDirectory, ModelSpec model, String products, int kept, long expectedBytes) {
        this(runDirectory, model, products, kept, expectedBytes, Disk.REAL, List.of());
    }

    CheckpointStore(Path runDirectory, ModelSpec model, String products, int kept, long expectedBytes, Disk disk) {
        this(runDirectory, model, products, kept, expectedBytes, disk, List.of());
    }

    private CheckpointStore(Path runDirectory, ModelSpec model, String products, int kept, long expectedBytes,
            Disk disk,
            List<Integer> replicas) {
        this.runDirectory = runDirectory;
        this.folder = CheckpointFolder.of(runDirectory);
        this.model = model;
        this.products = products;
        this.kept = kept;
        this.expectedBytes = expectedBytes;
        this.disk = disk;
        this.replicas = replicas;
    }

    /** Returns the same store for a run with several ranks for some stages, which every manifest records. */
    public CheckpointStore ofReplicas(List<Integer> counts) {
        return new CheckpointStore(runDirectory, model, products, kept, expectedBytes, disk, List.copyOf(counts));
    }

    public static Path directoryOf(Path runDirectory, long stepsDone) {
        return CheckpointFolder.of(runDirectory).whole(stepsDone);
    }

    /**
     * Checks that there is room for another checkpoint, before one is begun.
     *
     * @throws CheckpointException if there is none
     */
    public void requireRoom() {
        requireRoom(expectedBytes);
    }

    private void requireRoom(long bytes) {
        long needed = bytes + OVERHEAD_BYTES;
        long free = disk.freeBytes(runDirectory);
        if (free < needed) {
            throw new CheckpointException(String.format(Locale.ROOT,
                    "it takes %,d bytes, but the file system of %s has %,d left: free some, or set"
                            + " training.keep-checkpoints lower",
                    needed, runDirectory, free));
        }
    }

    /**
     * Writes the file of one rank, with a unique name until the checkpoint is committed.
     *
     * @throws CheckpointException if it cannot be written, or there is no room for it
     */
    public CheckpointPart writePart(long stepsDone, int rank, Collection<TensorPart> tensors) {
        String name = PartFile.newName(rank);
        Path file = folder.partial(stepsDone).resolve(name);
        try {
            Files.createDirectories(file.getParent());
            requireRoom(tensors.stream().mapToLong(part -> part.tensor().byteCount()).sum());
            disk.write(file, metadata(stepsDone, rank, tensors), tensors.stream().map(TensorPart::tensor).toList());
            return PartFile.describe(file, name);
        } catch (WeightException unwritten) {
            throw new CheckpointException(unwritten.getMessage(), unwritten);
        } catch (IOException failure) {
            throw new CheckpointException("cannot write " + file + ": " + FileReason.of(failure), failure);
        }
    }

    private static Map<String, String> metadata(long stepsDone, int rank, Collection<TensorPart> tensors) {
        Map<String, String> metadata = new TreeMap<>(ShardedWeights.metadata(tensors.stream()
                .collect(Collectors.toMap(part -> part.tensor().name(), TensorPart::slice))));
        metadata.put(STEPS_DONE, Long.toString(stepsDone));
        metadata.put("rank", Integer.toString(rank));
        return metadata;
    }

    /**
     * Commits a checkpoint from its parts. It replaces one of the same step, from before a run resumed at an earlier step.
     * Checkpoints that are too old to be kept are deleted.
     *
     * @return the checkpoint's directory
     * @throws CheckpointException if it cannot be written
     */
    public Path commit(long stepsDone, LossScale lossScale, List<CheckpointPart> parts) {
        Path target = folder.whole(stepsDone);
        Path partial = folder.partial(stepsDone);
        try {
            List<CheckpointPart> committed = new ArrayList<>();
            for (CheckpointPart part : parts) {
                committed.add(PartFile.committed(part));
                Files.move(partial.resolve(part.file()), partial.resolve(committed.getLast().file()),
                        StandardCopyOption.ATOMIC_MOVE);
            }
            Path manifest = partial.resolve(Manifest.FILE);
            Files.writeString(manifest, new Manifest(Manifest.FORMAT, stepsDone, Manifest.Model.of(model), lossScale,
                    products, committed, replicas).toJson());
            force(manifest, StandardOpenOption.WRITE);
            deleteAllBut(committed, partial);
            force(partial, StandardOpenOption.READ);
            if (Files.exists(target)) {
                CheckpointFolder.delete(target);
            }
            Files.move(partial, target, StandardCopyOption.ATOMIC_MOVE);
            force(target.getParent(), StandardOpenOption.READ);
            Retention.deleteOlder(folder, stepsDone, kept);
            return target;
        } catch (AtomicMoveNotSupportedException failure) {
            throw new CheckpointException("the file system of " + runDirectory
                    + " cannot rename a directory in one step: choose another place with --out", failure);
        } catch (IOException | UncheckedIOException failure) {
            throw new CheckpointException("cannot write the checkpoint " + target + ": " + FileReason.of(failure),
                    failure);
        }
    }

    /** Changes a byte of a written part, as a bad disk would: for injected faults. */
    public void damage(long stepsDone, CheckpointPart part) {
        try {
            PartFile.damage(folder.partial(stepsDone).resolve(part.file()), part.byteCount() - 1);
        } catch (IOException failure) {
            throw new CheckpointException("cannot damage " + part.file() + ": " + FileReason.of(failure), failure);
        }
    }

    /** Deletes the files of an abandoned checkpoint; a failure is only logged. */
    public void abandon(long stepsDone) {
        Path partial = folder.partial(stepsDone);
        try {
            if (Files.isDirectory(partial)) {
                CheckpointFolder.delete(partial);
            }
        } catch (IOException failure) {
            LOG.warn("{} could not be deleted: {}", partial, FileReason.of(failure));
        }
    }

    private static void force(Path path, StandardOpenOption option) throws IOException {
        try (FileChannel channel = FileChannel.open(path, option)) {
            channel.force(true);
        }
    }

    /** Deletes files that writers of superseded parts left, or a run that failed in this checkpoint. */
    private static void deleteAllBut(List<CheckpointPart> parts, Path partial) throws IOException {
        Set<String> kept = new HashSet<>(Set.of(Manifest.FILE));
        parts.forEach(part -> kept.add(part.file()));
        try (Stream<Path> files = Files.list(partial)) {
            for (Path file : files.filter(file -> !kept.contains(file.getFileName().toString())).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
