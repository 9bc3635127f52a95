package dev.troupe.cli.bits;

import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.look.replay.StepReplay;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.plan.prepare.BuiltInCorpus;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe replay}: the repetition of a run's step, compared with its records. */
@Command(name = "replay", mixinStandardHelpOptions = true, description = {
        "Does a step of a run again, from the newest checkpoint before it or from the first weights, with all ranks in this process, and compares what every action puts out with what the run recorded. Nothing is written to the run's directory. Exit code 0: the same; 1: they part; 2: the step cannot be done again."})
public final class ReplayCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "RUN", description = "The directory of a run.")
    private Path run;

    @Option(names = "--step", required = true, paramLabel = "N", description = "The step, from 0.")
    private long step;

    @Option(names = "--json", description = "Prints one JSON object instead (docs/schema/bisect.json).")
    private boolean isJson;

    @Override
    public Integer call() throws InterruptedException {
        if (step < 0) {
            throw new UsageException("--step must be at least 0, but found " + step);
        }
        RunSpec spec = RunSpecReader.read(Optional.of(RunDirectory.configOf(run)), List.of());
        return BisectionAnswer.print(new StepReplay(run, step).of(spec, BuiltInCorpus.utf8()), run.toString(),
                "the replay", isJson);
    }
}
