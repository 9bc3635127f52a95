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

/** A cluster of a test on this machine, with ports and a name that no other cluster has. Its nodes are a, b, c and d. */
public final class LocalCluster {
    /** The address of most nodes; nodes with one address share memory. */
    static final String HERE = "127.0.0.1";
    /** The ports of a node: control, data, management. */
    private static final int PORTS = 3;
    private static final Pattern NODE = Pattern
            .compile(Pattern.quote(Troupe.class.getName()) + " node .* --out (\\S+).*");

    private final List<Integer> ports;

    private LocalCluster(List<Integer> ports) {
        this.ports = ports;
    }

    /** Finds the ports of a number of nodes. */
    public static LocalCluster of(int nodes) {
        return new LocalCluster(FreePorts.find(PORTS * nodes));
    }

    String name() {
        return "test-" + ports.getFirst();
    }

    int controlPort(int node) {
        return ports.get(PORTS * node);
    }

    int managementPort(int node) {
        return ports.get(PORTS * node + 2);
    }

    /** The section of a node at {@link #HERE}, with more keys. */
    public String node(int node, String more) {
        return node(node, HERE, more);
    }

    String node(int node, String host, String more) {
        return "{ name = %c, host = %s, control-port = %d, data-port = %d, %s }".formatted('a' + node, host,
                controlPort(node), ports.get(PORTS * node + 1), more);
    }

    /** The key of a node that answers questions on its state. */
    String management(int node) {
        return "management-port = " + managementPort(node);
    }

    /**
     * Writes a configuration with nodes that wait for each other for two minutes.
     *
     * @param more further keys of a run, which override the others
     */
    public Path write(Path file, String more, String... nodes) throws IOException {
        return Files.writeString(file, """
                troupe {
                  name = %s
                  cluster {
                    join-timeout = 120s
                    nodes = [
                      %s
                    ]
                  }
                  %s
                }
                """.formatted(name(), String.join("\n      ", nodes), more));
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
    void requireNothingLeft() throws IOException {
        assertEquals(List.of(), ProcessHandle.current().descendants().filter(ProcessHandle::isAlive)
                .map(process -> process.info().commandLine().orElse("a process")).toList());
        assertEquals(List.of(), portsInUse());
        try (Stream<Path> left = Files.list(Path.of("/dev/shm"))) {
            assertEquals(List.of(),
                    left.filter(file -> file.getFileName().toString().startsWith("troupe-" + name() + "-"))
                            .toList());
        }
    }

    List<Integer> portsInUse() {
        return ports.stream().filter(port -> !FreePorts.isFree(port)).toList();
    }
}
