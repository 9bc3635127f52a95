package dev.troupe.bench.pairs;

import dev.troupe.bench.MeasuredRun;
import dev.troupe.config.RunSpecReader;
import dev.troupe.engine.DataType;
import dev.troupe.look.publish.ModelExport;
import dev.troupe.plan.prepare.OpenedRun;
import dev.troupe.plan.prepare.RunRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** The weights that a training of Troupe begins with, as a file for its peer. */
final class PeerWeights {
    private PeerWeights() {
    }

    /**
     * Writes the weights in float32, with the names and layout in which the family is published.
     *
     * @param settings settings of the training in addition to the ones of its model and arrangement
     * @param directory an empty directory
     * @return the safetensors file
     */
    static Path write(PeerCase training, List<String> settings, Path directory) throws IOException {
        Path output = Files.createDirectory(directory.resolve("run"));
        RunRequest request = new RunRequest(RunSpecReader.read(Optional.empty(), training.completed(settings)),
                MeasuredRun.corpus(), output,
                Optional.empty(), OptionalLong.empty());
        try (OpenedRun run = OpenedRun.of(request)) {
            ModelExport.huggingFace(run.model(), run.whole().start().weights(), DataType.FLOAT32, directory,
                    Long.MAX_VALUE, Optional.empty());
        }
        return directory.resolve("model.safetensors");
    }
}
