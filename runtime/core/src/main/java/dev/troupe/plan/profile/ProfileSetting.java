package dev.troupe.plan.profile;

import dev.troupe.config.RunSpec;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.model.ModelSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The conditions under which the times of a profile hold.
 *
 * @param engine the engine, with the libraries of its matrix products
 * @param precision the type of matrix products
 * @param tensor T, ranks that share a layer
 */
public record ProfileSetting(String processor, String engine, int threads, String precision, int microbatchSize,
        int sequenceLength, int tensor, String model) {
    private static final Path PROCESSORS = Path.of("/proc/cpuinfo");
    private static final String NAME = "model name";

    public static ProfileSetting of(RunSpec spec, ModelSpec model, int sequenceLength, String engine,
            EngineSettings settings) {
        return new ProfileSetting(processorHere(), engine + " " + settings.products()
                + (settings.floatParts() == 0 ? "" : " " + spec.engine().float32Products().word())
                + (settings.exactRows() ? " exact rows" : ""), settings.threads(),
                settings.computeType().name(), spec.training().microbatchSize(), sequenceLength,
                spec.parallel().tensor(), model.family().name() + " " + new TreeMap<>(model.section().values()));
    }

    private static String processorHere() {
        try (Stream<String> lines = Files.lines(PROCESSORS)) {
            return lines.filter(line -> line.startsWith(NAME))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst().orElseGet(() -> System.getProperty("os.arch"));
        } catch (IOException _) { // no Linux
            return System.getProperty("os.arch");
        }
    }

    /** Returns these conditions on the processor, engine and threads of another node. */
    public ProfileSetting on(ProfileSetting node) {
        return new ProfileSetting(node.processor, node.engine, node.threads, precision, microbatchSize, sequenceLength,
                tensor, model);
    }

    /** Returns the first condition that another run does not have, in words; empty if it has all. */
    Optional<String> difference(ProfileSetting run) {
        return Stream.of(differs("the processor", processor, run.processor), differs("the model", model, run.model),
                differs("the engine", engine, run.engine), differs("the precision", precision, run.precision),
                differs("engine.threads =", threads, run.threads),
                differs("training.microbatch-size =", microbatchSize, run.microbatchSize),
                differs("a sequence length of", sequenceLength, run.sequenceLength),
                differs("parallel.tensor =", tensor, run.tensor)).flatMap(Optional::stream).findFirst();
    }

    private static Optional<String> differs(String what, Object here, Object there) {
        return here.equals(there)
                ? Optional.empty()
                : Optional.of(what + " " + here + ", but the run has " + there);
    }
}
