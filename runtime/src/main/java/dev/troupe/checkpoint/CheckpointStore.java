package dev.troupe.checkpoint;

import dev.troupe.machine.CheckpointPart;
import dev.troupe.machine.LossScale;
import dev.troupe.model.ModelConfig;
import dev.troupe.weights.SafeTensorsWriter;
import dev.troupe.weights.ShardedWeights;
import dev.troupe.weights.TensorPart;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Writes the checkpoints of a run: {@code checkpoints/step-000100/} holds {@code rank-000.safetensors} and so on, and
 * {@code manifest.json}. Everything is written under {@code step-000100.partial}; the manifest comes last, and the
 * directory then takes its name by one atomic rename, so that a directory of that name is always whole.
 *
 * <p>Thread rule: {@link #writePart} by one thread per rank, {@link #commit} once, after all parts are written.
 */
public final class CheckpointStore {
    private final Path runDirectory;
    private final CheckpointFolder folder;
    private final ModelConfig model;
    private final int kept;

    /**
     * @param runDirectory
     *            the directory of the run; {@code checkpoints} is made in it when the first one is written
     * @param model
     *            the shape of the model, kept in every manifest
     * @param kept
     *            how many of the newest stay; 0 for all
     */
    public CheckpointStore(Path runDirectory, ModelConfig model, int kept) {
        this.runDirectory = runDirectory;
        this.folder = CheckpointFolder.of(runDirectory);
        this.model = model;
        this.kept = kept;
    }

    /** Where in a run's directory the checkpoint after so many steps stands once it is committed. */
    public static Path directoryOf(Path runDirectory, long stepsDone) {
        return CheckpointFolder.of(runDirectory).whole(stepsDone);
    }

    /**
     * Writes the file of one rank.
     *
     * @throws CheckpointException
     *             where it cannot be written
     */
    public CheckpointPart writePart(long stepsDone, int rank, Collection<TensorPart> tensors) {
        String name = String.format(Locale.ROOT, "rank-%03d.safetensors", rank);
        Path file = folder.partial(stepsDone).resolve(name);
        try {
            Files.createDirectories(file.getParent());
            SafeTensorsWriter.write(file, metadata(stepsDone, rank, tensors),
                    tensors.stream().map(TensorPart::tensor).toList());
            return PartFile.describe(file, name);
        } catch (IOException failure) {
            throw new CheckpointException("cannot write " + file + ": " + failure, failure);
        }
    }

    private static Map<String, String> metadata(long stepsDone, int rank, Collection<TensorPart> tensors) {
        Map<String, String> metadata = new TreeMap<>(ShardedWeights.metadata(tensors.stream()
                .collect(Collectors.toMap(part -> part.tensor().name(), TensorPart::slice))));
        metadata.put("steps_done", Long.toString(stepsDone));
        metadata.put("rank", Integer.toString(rank));
        return metadata;
    }

    /**
     * Makes the parts a checkpoint. One that stands there already, from a run that went on from an earlier step, is
     * replaced; those that are too old to be kept are deleted.
     *
     * @return the checkpoint's directory
     * @throws CheckpointException
     *             where it cannot be written
     */
    public Path commit(long stepsDone, LossScale lossScale, List<CheckpointPart> parts) {
        Path target = folder.whole(stepsDone);
        Path partial = folder.partial(stepsDone);
        try {
            Path manifest = partial.resolve(Manifest.FILE);
            Files.writeString(manifest, new Manifest(Manifest.FORMAT, stepsDone, model, lossScale, parts).toJson());
            force(manifest, StandardOpenOption.WRITE);
            deleteAllBut(parts, partial);
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
            throw new CheckpointException("cannot write the checkpoint " + target + ": " + failure, failure);
        }
    }

    private static void force(Path path, StandardOpenOption option) throws IOException {
        try (FileChannel channel = FileChannel.open(path, option)) {
            channel.force(true);
        }
    }

    /** A run that broke down while it wrote this very checkpoint, with more ranks, may have left files. */
    private static void deleteAllBut(List<CheckpointPart> parts, Path partial) throws IOException {
        Set<String> kept = new HashSet<>(Set.of(Manifest.FILE));
        parts.forEach(part -> kept.add(part.file()));
        try (Stream<Path> files = Files.list(partial)) {
            for (Path file : files.filter(file -> !kept.contains(file.getFileName().toString())).toList()) {
                Files.delete(file);
            }
        }
    }
}
