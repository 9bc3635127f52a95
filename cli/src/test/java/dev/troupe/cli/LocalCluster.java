package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.plan.directory.RunDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A cluster of a test on this machine. */
final class LocalCluster {
    private static final Pattern NODE = Pattern
            .compile(Pattern.quote(Troupe.class.getName()) + " node .* --out (\\S+).*");

    private LocalCluster() {
    }

    /** A name that no other cluster on this machine has. */
    static String name(List<Integer> ports) {
        return "test-" + ports.getFirst();
    }

    /** Returns the directory of the logs if this JVM is a launched node. */
    static Optional<Path> logsOfThisNode() {
        Matcher node = NODE.matcher(System.getProperty("sun.java.command"));
        return node.matches()
                ? Optional.of(Path.of(node.group(1)).resolve(RunDirectory.LOGS))
                : Optional.empty();
    }

    /** Returns the process of a node, by the files of the system: Java has no command lines of such a length. */
    static Optional<ProcessHandle> processOf(String node) {
        return ProcessHandle.current().descendants().filter(process -> {
            try {
                List<String> arguments = List
                        .of(Files.readString(Path.of("/proc/" + process.pid() + "/cmdline")).split("\0"));
                return arguments.containsAll(List.of("node", node));
            } catch (IOException _) {
                return false; // the process has ended
            }
        }).findFirst();
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
