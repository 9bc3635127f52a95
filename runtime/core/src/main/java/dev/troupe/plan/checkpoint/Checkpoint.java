package dev.troupe.plan.checkpoint;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.model.ModelSpec;
import dev.troupe.protocol.LossScale;
import dev.troupe.shard.StateTensor;
import dev.troupe.tokenizer.file.FileReason;
import dev.troupe.weights.SafeTensors;
import dev.troupe.weights.ShardedWeights;
import dev.troupe.weights.StoredType;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * A checkpoint with verified checksums. As a weight source it has the weights and the optimizer's state by name, so a run
 * may resume with its layers on other stages. Thread rule: {@link #read} from any thread; close when no thread reads.
 */
public final class Checkpoint implements WeightSource, AutoCloseable {
    private final Path directory;
    private final Manifest manifest;
    private final List<String> passedOver;
    private final List<SafeTensors> files = new ArrayList<>();
    private ShardedWeights weights;

    private Checkpoint(Path directory, Manifest manifest, List<String> passedOver) {
        this.directory = directory;
        this.manifest = manifest;
        this.passedOver = List.copyOf(passedOver);
    }

    /**
     * Opens a checkpoint, or the newest whole one of a run's directory. Every file is read once, in pieces, and checked
     * against the manifest.
     *
     * @throws CheckpointException if there is none, none is whole, or the named one is not whole
     */
    public static Checkpoint open(Path runOrCheckpoint) {
        if (!Files.isDirectory(runOrCheckpoint)) {
            throw new CheckpointException("there is no directory " + runOrCheckpoint
                    + " to resume from: name the directory of a run, or one of its checkpoints");
        }
        return isAt(runOrCheckpoint)
                ? open(CheckpointFolder.entry(runOrCheckpoint), List.of())
                : openNewestWhole(runOrCheckpoint);
    }

    private static Checkpoint openNewestWhole(Path runDirectory) {
        List<String> passedOver = new ArrayList<>();
        for (CheckpointFolder.Entry entry : newestFirst(runDirectory)) {
            try {
                return open(entry, passedOver);
            } catch (DamageException damage) {
                passedOver.add(damage.what());
            }
        }
        throw new CheckpointException(passedOver.isEmpty()
                ? "no checkpoint was found in " + runDirectory + ": expected "
                        + CheckpointFolder.of(runDirectory).path()
                        + " to hold directories such as step-000100, each with a "
                        + Manifest.FILE
                : "no checkpoint in " + runDirectory + " is whole: " + String.join("; ", passedOver));
    }

    private static Checkpoint open(CheckpointFolder.Entry entry, List<String> passedOver) {
        if (entry.isPartial()) {
            throw DamageException.unfinished(entry.directory());
        }
        Checkpoint checkpoint = new Checkpoint(entry.directory(), Manifest.read(entry.directory()), passedOver);
        try {
            checkpoint.openParts();
        } catch (RuntimeException failure) {
            checkpoint.close();
            throw failure;
        }
        return checkpoint;
    }

    /** Returns whether a directory is a checkpoint, whole or not; false for the directory of a run. */
    public static boolean isAt(Path directory) {
        Path absolute = directory.toAbsolutePath().normalize();
        return Files.exists(absolute.resolve(Manifest.FILE)) || CheckpointFolder.entry(absolute).stepsDone() >= 0
                && absolute.getParent().endsWith(CheckpointFolder.NAME);
    }

    /** Returns the run's directory, absolute, of RUN/checkpoints/step-000100 or of RUN itself. */
    public static Path runDirectoryOf(Path runOrCheckpoint) {
        Path absolute = runOrCheckpoint.toAbsolutePath().normalize();
        Path checkpoints = isAt(absolute) ? absolute.getParent() : null;
        return checkpoints == null || checkpoints.getParent() == null ? absolute : checkpoints.getParent();
    }

    /** Returns the directory of a run's checkpoint after {@code steps} steps; it may not exist. */
    public static Path after(long steps, Path runDirectory) {
        return CheckpointFolder.of(runDirectory).whole(steps);
    }

    /** Returns the steps of the newest checkpoint of a run's directory; empty if it has none. */
    public static OptionalLong newestSteps(Path runDirectory) {
        return steps(runDirectory).findFirst();
    }

    /** Returns the steps of each checkpoint of a run's directory, damaged ones included, the newest first. */
    public static LongStream steps(Path runDirectory) {
        return newestFirst(runDirectory).stream()
                .filter(entry -> !entry.isPartial() && Files.exists(entry.directory().resolve(Manifest.FILE)))
                .mapToLong(CheckpointFolder.Entry::stepsDone);
    }

    /**
     * Returns the libraries of matrix products that computed a checkpoint, or the newest of a run's directory, as {@link
     * EngineSettings#products}. Reads only the manifest; if that is impossible, returns the engine's own.
     */
    public static String products(Path runOrCheckpoint) {
        return manifest(runOrCheckpoint).map(Manifest::products).orElse(EngineSettings.OWN_PRODUCTS);
    }

    /**
     * Returns the model of a checkpoint, or of the newest of a run's directory. Reads only the manifest; empty if that is
     * impossible.
     */
    public static Optional<ModelSpec> modelOf(Path runOrCheckpoint) {
        return manifest(runOrCheckpoint).map(manifest -> manifest.model().spec());
    }

    private static Optional<Manifest> manifest(Path runOrCheckpoint) {
        Stream<Path> directories = isAt(runOrCheckpoint)
                ? Stream.of(runOrCheckpoint)
                : steps(runOrCheckpoint).mapToObj(steps -> after(steps, runOrCheckpoint));
        return directories.flatMap(directory -> {
            try {
                return Stream.of(Manifest.read(directory));
            } catch (CheckpointException _) {
                return Stream.empty(); // it is refused, or passed over, when the whole is opened
            }
        }).findFirst();
    }

    private static List<CheckpointFolder.Entry> newestFirst(Path runDirectory) {
        try {
            return CheckpointFolder.of(runDirectory).newestFirst();
        } catch (IOException failure) {
            throw new CheckpointException(
                    "cannot list the checkpoints of " + runDirectory + ": " + FileReason.of(failure), failure);
        }
    }

    private void openParts() {
        // Checks presence and sizes first, then every byte, with as many threads as there are cores.
        manifest.parts().forEach(part -> PartFile.requireThere(directory, part));
        manifest.parts().parallelStream().flatMap(part -> PartFile.damageOf(directory, part).stream()).findFirst()
                .ifPresent(damage -> {
                    throw damage;
                });
        try {
            manifest.parts().forEach(part -> files.add(SafeTensors.open(directory.resolve(part.file()))));
            files.forEach(this::requireOfThisStep);
            weights = ShardedWeights.of(directory.toString(), files);
        } catch (WeightException incomplete) {
            throw DamageException.damaged(directory, incomplete.getMessage(), incomplete);
        }
    }

    /** The manifest has no checksum of its own, and the parts have one in it. */
    private void requireOfThisStep(SafeTensors part) {
        String steps = part.metadata().get(CheckpointStore.STEPS_DONE);
        if (steps != null && !steps.equals(Long.toString(manifest.stepsDone()))) {
            throw DamageException.damaged(directory.resolve(Manifest.FILE), "it has steps_done = "
                    + manifest.stepsDone() + ", but " + part.file().getFileName() + " has " + steps, null);
        }
    }

    public Path directory() {
        return directory;
    }

    /** Returns the damage of each newer checkpoint that was skipped, the newest first. */
    public List<String> passedOver() {
        return passedOver;
    }

    public long stepsDone() {
        return manifest.stepsDone();
    }

    public LossScale lossScale() {
        return manifest.lossScale();
    }

    public ModelSpec model() {
        return manifest.model().spec();
    }

    /** Returns the ranks of each stage of the run that wrote it; empty if each had one. */
    public List<Integer> replicas() {
        return manifest.replicas();
    }

    /** Returns the type in which the weights were trained: float64 or float32. */
    public DataType parameterType() {
        return files.stream().flatMap(file -> file.tensors().values().stream())
                .anyMatch(tensor -> tensor.type() == StoredType.F64) ? DataType.FLOAT64 : DataType.FLOAT32;
    }

    /** Returns whether a tensor is present: a checkpoint of adapters has no frozen tensors. */
    public boolean has(String name) {
        return weights.names().contains(name);
    }

    /** Returns the names of the optimizer's moments of each weight. */
    public Map<String, Set<String>> moments() {
        Map<String, Set<String>> moments = new HashMap<>();
        for (String name : weights.names()) {
            StateTensor.momentOf(name).ifPresent(moment -> moments
                    .computeIfAbsent(moment.parameter(), _ -> new HashSet<>()).add(moment.name()));
        }
        return moments;
    }

    public int olderVersions(String weight) {
        int older = 0;
        while (has(StateTensor.before(older + 1) + weight)) {
            older++;
        }
        return older;
    }

    /** Returns the number of replicas with state of their own; 1 if all ranks had the same weights. */
    public int replicaCount() {
        return 1 + weights.names().stream().mapToInt(StateTensor::replicaOf).max().orElse(0);
    }

    /**
     * Reads a tensor. If the run kept only one weight version, the newest weights stand in for older versions. A replica
     * that the run did not have begins with the state of the first.
     */
    @Override
    public void read(String asked, Shape shape, DataType parameterType, MemorySegment target) {
        String known = has(asked) ? asked : StateTensor.ofFirstReplica(asked);
        String name = has(known) ? known : StateTensor.newestOf(known).orElse(known);
        if (!has(name)) {
            throw new WeightException(directory + " has no tensor " + name
                    + ": resume with the model and the optimizer that it was written with");
        }
        weights.read(name, shape, parameterType, target);
    }

    @Override
    public void requireNumbers(String name, DataType parameterType) {
        weights.requireNumbers(name, parameterType);
    }

    @Override
    public void close() {
        files.forEach(SafeTensors::close);
    }
}
