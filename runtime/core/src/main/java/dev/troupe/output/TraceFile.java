package dev.troupe.output;

import dev.troupe.prepare.PreparedRun;
import dev.troupe.schedule.drawing.ChromeTrace;
import dev.troupe.schedule.timeline.Timeline;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** The trace of the last steps of a run, for ui.perfetto.dev. */
public final class TraceFile {
    private TraceFile() {
    }

    /**
     * Writes the newest steps of the ranks of this process, if it has any, into the directory of the run.
     *
     * @param node
     *            the node of this process, where the run has several: each writes a file of its own, on its own clock
     * @param trouble
     *            receives a sentence where the file cannot be written
     */
    public static void write(PreparedRun run, Optional<String> node, Consumer<String> trouble) {
        List<Timeline> steps = run.trace().timelines(run.plan().training().plan());
        if (steps.isEmpty()) {
            return;
        }
        Path file = run.request().output().resolve("trace" + node.map(name -> "-" + name).orElse("") + ".json");
        try {
            Files.writeString(file, ChromeTrace.write(steps));
        } catch (IOException failure) {
            trouble.accept("The trace of the last steps could not be written to " + file + ": " + failure.getMessage());
        }
    }
}
