package dev.troupe.checkpoint;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.machine.CheckpointPart;
import dev.troupe.machine.LossScale;
import dev.troupe.model.ModelConfig;
import dev.troupe.weights.SafeTensors;
import dev.troupe.weights.ShardedWeights;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A checkpoint that was read back and whose checksums hold. As a weight source it knows the weights and the optimizer's
 * state by name, so that a run may resume with its layers on other stages.
 *
 * <p>Thread rule: {@link #read} from any thread; close when nobody reads.
 */
public final class Checkpoint implements WeightSource, AutoCloseable {
    private static final Pattern NAME = Pattern.compile("step-\\d{6,}");
    private static final Pattern PART = Pattern.compile("rank-\\d{3,}\\.safetensors");
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES,
                    DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES,
                    DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

    private final Path directory;
    private final Manifest manifest;
    private final List<SafeTensors> files = new ArrayList<>();
    private ShardedWeights weights;

    private Checkpoint(Path directory, Manifest manifest) {
        this.directory = directory;
        this.manifest = manifest;
    }

    /**
     * Opens a checkpoint: of a run's directory the newest one, or the very directory of one.
     *
     * @throws CheckpointException
     *             where there is none, or it is not whole
     */
    public static Checkpoint open(Path runOrCheckpoint) {
        if (!Files.isDirectory(runOrCheckpoint)) {
            throw new CheckpointException("there is no directory " + runOrCheckpoint
                    + " to resume from: name the directory of a run, or one of its checkpoints");
        }
        Path directory = isAt(runOrCheckpoint)
                ? runOrCheckpoint
                : newest(runOrCheckpoint).orElseThrow(() -> new CheckpointException("no checkpoint was found in "
                        + runOrCheckpoint + ": expected " + runOrCheckpoint.resolve("checkpoints")
                        + " to hold directories such as step-000100, each with a " + CheckpointStore.MANIFEST));
        Checkpoint checkpoint = new Checkpoint(directory, readManifest(directory));
        try {
            checkpoint.openParts();
        } catch (RuntimeException failure) {
            checkpoint.close();
            throw failure;
        }
        return checkpoint;
    }

    /** Whether a directory is that of a checkpoint, not of a run. */
    public static boolean isAt(Path directory) {
        return Files.exists(directory.resolve(CheckpointStore.MANIFEST));
    }

    /** The run's directory, absolute, of RUN/checkpoints/step-000100 or of RUN itself. */
    public static Path runDirectoryOf(Path runOrCheckpoint) {
        Path absolute = runOrCheckpoint.toAbsolutePath().normalize();
        Path checkpoints = isAt(absolute) ? absolute.getParent() : null;
        return checkpoints == null || checkpoints.getParent() == null ? absolute : checkpoints.getParent();
    }

    /** How many steps lie behind the newest checkpoint of a run's directory; empty where it has none. */
    public static OptionalLong newestSteps(Path runDirectory) {
        Optional<Path> newest = newest(runDirectory);
        return newest.isPresent() ? OptionalLong.of(stepsOf(newest.get())) : OptionalLong.empty();
    }

    private static Optional<Path> newest(Path runDirectory) {
        Path checkpoints = runDirectory.resolve("checkpoints");
        if (!Files.isDirectory(checkpoints)) {
            return Optional.empty();
        }
        try (Stream<Path> entries = Files.list(checkpoints)) {
            return entries.filter(entry -> NAME.matcher(entry.getFileName().toString()).matches())
                    .filter(entry -> Files.exists(entry.resolve(CheckpointStore.MANIFEST)))
                    .max(Comparator.comparingLong(Checkpoint::stepsOf));
        } catch (IOException failure) {
            throw new CheckpointException("cannot list " + checkpoints + ": " + failure, failure);
        }
    }

    private static long stepsOf(Path directory) {
        String digits = directory.getFileName().toString().substring("step-".length());
        return digits.length() > 18 ? Long.MAX_VALUE : Long.parseLong(digits);
    }

    private static Manifest readManifest(Path directory) {
        Path file = directory.resolve(CheckpointStore.MANIFEST);
        try {
            JsonNode tree = JSON.readTree(file.toFile());
            if (!tree.isObject()) {
                throw damaged(file, "it is no JSON object", null);
            }
            JsonNode format = tree.path("format"); // before all else: another format may have other keys
            if (format.isIntegralNumber()
                    && (format.longValue() < Manifest.OLDEST_FORMAT || format.longValue() > Manifest.FORMAT)) {
                throw new CheckpointException(file + " has format " + format + ", but this version reads "
                        + Manifest.OLDEST_FORMAT + " to " + Manifest.FORMAT
                        + ": resume it with the version that wrote it");
            }
            if (format.longValue() == Manifest.OLDEST_FORMAT && !tree.has("loss_scale")) {
                // Every step was an update then.
                ((ObjectNode) tree).set("loss_scale",
                        JSON.valueToTree(LossScale.none(tree.path("steps_done").longValue())));
            }
            return JSON.treeToValue(tree, Manifest.class);
        } catch (JsonProcessingException failure) {
            throw damaged(file, failure.getOriginalMessage(), failure);
        } catch (IOException failure) {
            throw new CheckpointException("cannot read " + file + ": " + failure, failure);
        }
    }

    private void openParts() {
        for (CheckpointPart part : manifest.parts()) {
            files.add(SafeTensors.open(checked(part)));
        }
        try {
            weights = ShardedWeights.of(directory.toString(), files);
        } catch (WeightException incomplete) {
            throw damaged(directory, incomplete.getMessage(), incomplete);
        }
    }

    /** The file of a part, once its name, size and checksum are what they must be. */
    private Path checked(CheckpointPart part) {
        if (!PART.matcher(part.file()).matches()) { // a name must not lead out of the directory
            throw damaged(directory.resolve(CheckpointStore.MANIFEST), "it names a part \"" + part.file()
                    + "\", but parts have names such as rank-000.safetensors", null);
        }
        Path file = directory.resolve(part.file());
        try {
            if (!Files.exists(file)) {
                throw new CheckpointException(file + " is missing: resume from another checkpoint");
            }
            if (Files.size(file) != part.byteCount() || !Checksum.sha256(file).equals(part.sha256())) {
                throw damaged(file, "its size or SHA-256 differs from the manifest's", null);
            }
            return file;
        } catch (IOException failure) {
            throw new CheckpointException("cannot read " + file + ": " + failure, failure);
        }
    }

    private static CheckpointException damaged(Path file, String why, Throwable cause) {
        return new CheckpointException(file + " is damaged (" + why + "): resume from another checkpoint", cause);
    }

    /** The checkpoint's own directory. */
    public Path directory() {
        return directory;
    }

    /** How many steps lie behind. */
    public long stepsDone() {
        return manifest.stepsDone();
    }

    /** How the loss of the next step was to be scaled. */
    public LossScale lossScale() {
        return manifest.lossScale();
    }

    /** The shape of the model. */
    public ModelConfig model() {
        return manifest.model();
    }

    @Override
    public void read(String name, Shape shape, DataType floatType, MemorySegment target) {
        if (!weights.names().contains(name)) {
            throw new WeightException(directory + " has no tensor " + name
                    + ": resume with the model and the optimizer that it was written with");
        }
        weights.read(name, shape, floatType, target);
    }

    @Override
    public void close() {
        files.forEach(SafeTensors::close);
    }
}
