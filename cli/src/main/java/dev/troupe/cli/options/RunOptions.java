package dev.troupe.cli.options;

import dev.troupe.config.RunSpec;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.directory.RunDirectory;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The options of the commands that train, in addition to CONFIG. */
public final class RunOptions {
    @Option(names = "-s", paramLabel = "key=value", description = {
            "Sets one key, without troupe; wins over CONFIG. May be repeated. The same on all nodes of a cluster."})
    private List<String> settings = List.of();

    @Option(names = "--out", paramLabel = "DIR", description = {
            "Where the run writes: an empty directory, one that does not exist yet, or one of a run that ended before its first checkpoint, which begins again; on storage that all nodes of a cluster see in the same place. Default: runs/NAME, or runs/NAME-2 and so on if that is taken; of a node runs/NAME, as all of a run need the same."})
    private Path out;

    @Option(names = "--resume", paramLabel = "DIR", description = {
            "Resumes from the newest checkpoint of a run's directory, or from the checkpoint that DIR names; in the run's own directory unless --out is given."})
    private Path resume;

    public List<String> settings() {
        return settings;
    }

    public Optional<Path> resume() {
        return Optional.ofNullable(resume);
    }

    public Path directory(RunSpec spec) {
        return named().orElseGet(() -> RunDirectory.firstFree(RunDirectory.usual(spec)));
    }

    /** Returns the directory of a run of several processes, the same for each of them. */
    public Path commonDirectory(RunSpec spec) {
        return named().orElseGet(() -> RunDirectory.usual(spec));
    }

    private Optional<Path> named() {
        return Optional.ofNullable(out).or(() -> resume().map(Checkpoint::runDirectoryOf));
    }
}
