package dev.troupe.cli.bits;

import dev.troupe.look.bisect.Bisection;
import dev.troupe.look.bisect.RecordedBits;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe bisect}: the search for the first output in which two runs differ. */
@Command(name = "bisect", mixinStandardHelpOptions = true, description = {
        "Names the first action in which two runs have other bits: step, layer, microbatch, tensor. Both have recorded digests of what they computed; runs on other grids can be compared if their bits should be equal (docs/determinism.md). Exit code 0: equal; 1: they differ; 2: they cannot be compared."})
public final class BisectCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "A", description = "The directory of a run.")
    private Path left;

    @Parameters(index = "1", paramLabel = "B", description = "The directory of the other run.")
    private Path right;

    @Option(names = "--json", description = "Prints one JSON object instead (docs/schema/bisect.json).")
    private boolean isJson;

    @Override
    public Integer call() {
        try (RecordedBits ofLeft = RecordedBits.open(left); RecordedBits ofRight = RecordedBits.open(right)) {
            return BisectionAnswer.print(Bisection.of(ofLeft, ofRight), left.toString(), right.toString(), isJson);
        }
    }
}
