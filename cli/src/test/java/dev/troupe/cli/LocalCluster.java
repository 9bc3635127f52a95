package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A cluster of a test on this machine. */
final class LocalCluster {
    private LocalCluster() {
    }

    /** A name unlike that of any other cluster on this machine. */
    static String name(List<Integer> ports) {
        return "test-" + ports.getFirst();
    }

    /** No process of this JVM's, no listener on a port of the cluster's, nothing of it in shared memory. */
    static void requireNothingLeft(String name, List<Integer> ports) throws IOException {
        assertEquals(List.of(), ProcessHandle.current().descendants().filter(ProcessHandle::isAlive)
                .map(process -> process.info().commandLine().orElse("a process")).toList());
        assertEquals(List.of(), ports.stream().filter(port -> !FreePorts.isFree(port)).toList());
        try (Stream<Path> left = Files.list(Path.of("/dev/shm"))) {
            assertEquals(List.of(),
                    left.filter(file -> file.getFileName().toString().startsWith("troupe-" + name + "-"))
                            .toList());
        }
    }
}
