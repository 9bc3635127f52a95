package dev.troupe.cli.model;

import dev.troupe.cli.options.ConfigOptions;
import dev.troupe.config.RunSpec;
import dev.troupe.plan.directory.RunDirectory;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options that choose the model of a command. */
final class ModelOptions {
    @Mixin
    private ConfigOptions config;

    @Option(names = "--from", paramLabel = "RUN|CHECKPOINT", description = {
            "Takes the weights of a run's newest checkpoint, or of a checkpoint; CONFIG is then the one of the run."})
    private Path from;

    Optional<Path> checkpoint() {
        return Optional.ofNullable(from);
    }

    RunSpec read() {
        return config.read(checkpoint().map(RunDirectory::configOf));
    }
}
