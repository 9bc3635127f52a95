package dev.troupe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** A run that takes a fraction of a second, and the check that nothing of it is left in its JVM. */
final class SmallTraining {
    static final String TEXT = "To be, or not to be, that is the question. ".repeat(40);
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private SmallTraining() {
    }

    static TrainingSpec.Builder spec(Path directory) {
        return TrainingSpec.builder().output(directory).engine("reference").stages(2).steps(4).batch(4, 2)
                .set("model.layers", 2).set("model.hidden", 8).set("model.heads", 2).set("model.sequence-length", 16);
    }

    /** No thread of a run and no file of its transport is left. */
    static void requireNothingLeft() throws InterruptedException, IOException {
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().startsWith("rank-") || thread.getName().startsWith("troupe-")
                    || thread.getName().contains("aeron") || thread.getName().equals("pauses")) {
                assertTrue(thread.join(PATIENCE), thread + " outlives its run");
            }
        }
        Path shared = Path.of("/dev/shm");
        if (Files.isDirectory(shared)) {
            try (Stream<Path> files = Files.list(shared)) {
                assertEquals(List.of(), files.filter(file -> file.getFileName().toString()
                        .startsWith("troupe-" + ProcessHandle.current().pid() + "-")).toList());
            }
        }
    }
}
