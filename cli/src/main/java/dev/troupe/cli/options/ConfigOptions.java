package dev.troupe.cli.options;

import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** An optional configuration file with settings that override it, for commands that derive runs from it. */
public final class ConfigOptions {
    @Parameters(arity = "0..1", paramLabel = "CONFIG", description = "A HOCON file with everything under troupe.")
    private Path config;

    @Option(names = "-s", paramLabel = "key=value", description = {
            "Sets one key, without troupe; wins over CONFIG. May be repeated."})
    private List<String> settings = List.of();

    public Optional<Path> config() {
        return Optional.ofNullable(config);
    }

    public List<String> settings() {
        return settings;
    }

    public RunSpec read() {
        return read(Optional.empty());
    }

    /** Reads the configuration: the named file, or else another one. */
    public RunSpec read(Optional<Path> otherwise) {
        return RunSpecReader.read(config().or(() -> otherwise), settings);
    }
}
