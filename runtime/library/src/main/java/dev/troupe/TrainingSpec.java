package dev.troupe;

import static java.util.Objects.requireNonNull;

import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.look.observe.RunObserver;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.schedule.family.Schedules;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The configuration of a run, checked by the reader of configuration files. Immutable.
 *
 * <p>Every key of {@code ./troupe keys} can be {@link Builder#set set}; other methods of the builder are short for a key.
 */
public final class TrainingSpec {
    private final Optional<Path> file;
    private final List<String> settings;
    private final Optional<Path> output;
    private final Optional<Path> resume;
    private final List<RunObserver> observers;
    private final RunSpec checked;

    private TrainingSpec(Builder builder) {
        this.file = builder.file;
        this.settings = List.copyOf(builder.settings);
        this.output = builder.output;
        this.resume = builder.resume;
        this.observers = List.copyOf(builder.observers);
        this.checked = read(List.of());
        String schedule = checked.parallel().schedule();
        Refusals.translate(() -> Schedules.overlapsSteps(schedule) || Schedules.named(schedule) != null);
    }

    /** Returns the configuration of a HOCON file with everything under {@code troupe}, as the command takes it. */
    public static TrainingSpec fromFile(Path file) {
        return builder().file(file).build();
    }

    /** Returns a builder of the default configuration. */
    public static Builder builder() {
        return new Builder();
    }

    /** Returns a builder that begins with this configuration. */
    public Builder toBuilder() {
        Builder builder = new Builder();
        builder.file = file;
        builder.settings.addAll(settings);
        builder.output = output;
        builder.resume = resume;
        builder.observers.addAll(observers);
        return builder;
    }

    /** Returns the name of the run. */
    public String name() {
        return checked.name();
    }

    /** Returns the configuration as a file, with the value of every key. */
    public String toHocon() {
        return checked.toHocon();
    }

    Optional<Path> file() {
        return file;
    }

    Optional<Path> resume() {
        return resume;
    }

    /** Returns the directory that the program names for its run, or resumes; empty by default. */
    Optional<Path> directory() {
        return named().map(Path::toAbsolutePath);
    }

    /** Returns the directory of a run of several processes, the same for each of them. */
    Path commonDirectory() {
        return named().orElseGet(() -> RunDirectory.usual(checked)).toAbsolutePath();
    }

    private Optional<Path> named() {
        return output.or(() -> resume.map(dev.troupe.plan.checkpoint.Checkpoint::runDirectoryOf));
    }

    List<RunObserver> observers() {
        return observers;
    }

    RunSpec checked() {
        return checked;
    }

    /** Returns the configuration with a few more settings. */
    RunSpec read(List<String> more) {
        List<String> all = new ArrayList<>(settings);
        all.addAll(more);
        return Refusals.translate(
                () -> RunSpecReader.read(file.isPresent() ? file : resume.map(RunDirectory::configOf), all));
    }

    /** The builder of a configuration; the last setting of a key wins. Used by one thread. */
    public static final class Builder {
        private final List<String> settings = new ArrayList<>();
        private final List<RunObserver> observers = new ArrayList<>();
        private Optional<Path> file = Optional.empty();
        private Optional<Path> output = Optional.empty();
        private Optional<Path> resume = Optional.empty();

        private Builder() {
        }

        /** Takes a HOCON file, over which settings win. */
        public Builder file(Path config) {
            file = Optional.of(requireNonNull(config, "file"));
            return this;
        }

        /**
         * Sets a key.
         *
         * @param key as the command's {@code -s} takes it, without {@code troupe.}: {@code training.steps}
         * @param value a number, a boolean, text as in {@code -s}, a path, a duration, or a list, set or array of such
         * @throws RequestException if the value is null or of another kind
         */
        public Builder set(String key, Object value) {
            requireNonNull(key, "key");
            if (value == null) {
                throw new RequestException(
                        key + " must have a value, but is set to null: leave the call out, and the key"
                                + " has the value of the file or its default");
            }
            settings.add(key + "=" + SettingText.of(key, value));
            return this;
        }

        /** Sets the name of the run: {@code name}. */
        public Builder name(String name) {
            return set("name", requireNonNull(name, "name"));
        }

        /** Starts from a model in Hugging Face layout: {@code model.from}. */
        public Builder model(Path directory) {
            return set("model.from", requireNonNull(directory, "directory"));
        }

        /** Sets {@code training.steps}. */
        public Builder steps(int steps) {
            return set("training.steps", steps);
        }

        /** Sets {@code training.global-batch-size} and {@code training.microbatch-size}, in sequences. */
        public Builder batch(int global, int microbatch) {
            return set("training.global-batch-size", global).set("training.microbatch-size", microbatch);
        }

        /** Sets {@code training.learning-rate.peak}. */
        public Builder learningRate(double peak) {
            return set("training.learning-rate.peak", peak);
        }

        /** Sets the number of ranks of a pipeline: {@code parallel.pipeline}. */
        public Builder stages(int ranks) {
            return set("parallel.pipeline", ranks);
        }

        /** Sets {@code parallel.schedule}. */
        public Builder schedule(String name) {
            return set("parallel.schedule", requireNonNull(name, "name"));
        }

        /** Sets {@code engine.kind}. */
        public Builder engine(String kind) {
            return set("engine.kind", requireNonNull(kind, "kind"));
        }

        /** Sets the directory of the run, which is empty or does not exist; the command's {@code --out}. */
        public Builder output(Path directory) {
            output = Optional.of(requireNonNull(directory, "directory"));
            return this;
        }

        /**
         * Resumes from the newest checkpoint of a run's directory, or from that very checkpoint, with the run's own
         * configuration unless a file is given; the command's {@code --resume}.
         */
        public Builder resume(Path runOrCheckpoint) {
            resume = Optional.of(requireNonNull(runOrCheckpoint, "runOrCheckpoint"));
            return this;
        }

        /**
         * Adds an observer of the run, such as {@code TrainingMeters.to(registry)} of {@code troupe-metrics}. It is
         * no key of the configuration, and is called in the process that leads the run.
         */
        public Builder observer(RunObserver observer) {
            observers.add(requireNonNull(observer, "observer"));
            return this;
        }

        /**
         * Checks every value, and the name of the schedule. Values that depend on the machine or on the data, such as the
         * engine, are checked when a run starts.
         *
         * @throws RequestException with a sentence for each that is wrong
         */
        public TrainingSpec build() {
            return new TrainingSpec(this);
        }
    }
}
