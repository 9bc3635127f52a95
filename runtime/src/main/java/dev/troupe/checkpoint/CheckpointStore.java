package dev.troupe.checkpoint;

import com.fasterxml.jackson.databind.json.JsonMapper;
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
    static final String MANIFEST = "manifest.json";
    private static final String PARTIAL = ".partial";
    private static final JsonMapper JSON = new JsonMapper();

    private final Path runDirectory;
    private final ModelConfig model;

    /**
     * @param runDirectory
     *            the directory of the run; {@code checkpoints} is made in it when the first one is written
     * @param model
     *            the shape of the model, kept in every manifest
     */
    public CheckpointStore(Path runDirectory, ModelConfig model) {
        this.runDirectory = runDirectory;
        this.model = model;
    }

    /** Where in a run's directory the checkpoint after so many steps stands once it is committed. */
    public static Path directoryOf(Path runDirectory, long stepsDone) {
        return runDirectory.resolve("checkpoints").resolve(String.format(Locale.ROOT, "step-%06d", stepsDone));
    }

    /**
     * Writes the file of one rank.
     *
     * @throws CheckpointException
     *             where it cannot be written
     */
    public CheckpointPart writePart(long stepsDone, int rank, Collection<TensorPart> tensors) {
        String name = String.format(Locale.ROOT, "rank-%03d.safetensors", rank);
        Path file = partial(stepsDone).resolve(name);
        try {
            Files.createDirectories(file.getParent());
            SafeTensorsWriter.write(file, metadata(stepsDone, rank, tensors),
                    tensors.stream().map(TensorPart::tensor).toList());
            return new CheckpointPart(name, Files.size(file), Checksum.sha256(file));
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
     * replaced.
     *
     * @return the checkpoint's directory
     * @throws CheckpointException
     *             where it cannot be written
     */
    public Path commit(long stepsDone, LossScale lossScale, List<CheckpointPart> parts) {
        Path target = directoryOf(runDirectory, stepsDone);
        Path partial = partial(stepsDone);
        try {
            Path manifest = partial.resolve(MANIFEST);
            Files.writeString(manifest, JSON.writerWithDefaultPrettyPrinter()
                    .writeValueAsString(new Manifest(Manifest.FORMAT, stepsDone, model, lossScale, parts)));
            force(manifest, StandardOpenOption.WRITE);
            deleteAllBut(parts, partial);
            force(partial, StandardOpenOption.READ);
            delete(target);
            Files.move(partial, target, StandardCopyOption.ATOMIC_MOVE);
            force(target.getParent(), StandardOpenOption.READ);
            return target;
        } catch (AtomicMoveNotSupportedException failure) {
            throw new CheckpointException("the file system of " + runDirectory
                    + " cannot rename a directory in one step: choose another place with --out", failure);
        } catch (IOException | UncheckedIOException failure) {
            throw new CheckpointException("cannot write the checkpoint " + target + ": " + failure, failure);
        }
    }

    private Path partial(long stepsDone) {
        Path target = directoryOf(runDirectory, stepsDone);
        return target.resolveSibling(target.getFileName() + PARTIAL);
    }

    private static void force(Path path, StandardOpenOption option) throws IOException {
        try (FileChannel channel = FileChannel.open(path, option)) {
            channel.force(true);
        }
    }

    /** A run that broke down while it wrote this very checkpoint, with more ranks, may have left files. */
    private static void deleteAllBut(List<CheckpointPart> parts, Path partial) throws IOException {
        Set<String> kept = new HashSet<>(Set.of(MANIFEST));
        parts.forEach(part -> kept.add(part.file()));
        try (Stream<Path> files = Files.list(partial)) {
            for (Path file : files.filter(file -> !kept.contains(file.getFileName().toString())).toList()) {
                Files.delete(file);
            }
        }
    }

    private static void delete(Path target) throws IOException {
        if (!Files.exists(target)) {
            return;
        }
        Files.deleteIfExists(target.resolve(MANIFEST)); // first, so that half a checkpoint is never taken for one
        try (Stream<Path> files = Files.list(target)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(target);
    }
}
