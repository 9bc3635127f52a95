package dev.troupe.bench.collective;

import dev.troupe.bench.MarkdownTable;
import dev.troupe.bench.Samples;
import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Membership;
import dev.troupe.collective.shared.SharedGroup;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.link.LinkTransport;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The cost of collectives by size. Prints the table of {@code bench/collectives/README.md}: threads of one JVM, processes
 * over one media driver, and Gloo's processes, alternately with a plain copy.
 */
@Command(name = "bench/collectives/run", mixinStandardHelpOptions = true, description = {
        "Measures collectives in one JVM and between JVMs alternately with Gloo's (PyTorch) and a plain copy."})
public final class CollectiveBenchmark implements Callable<Integer> {
    private static final Duration DEADLINE = Duration.ofMinutes(2);

    @Option(names = "--script", required = true, hidden = true)
    private Path script;

    @Option(names = "--python", paramLabel = "COMMAND", description = "A Python with PyTorch (default: ${DEFAULT-VALUE}).")
    private String python = "python3";

    @Option(names = "--turns", paramLabel = "N", description = {
            "Turns of each; the table has their medians (default: ${DEFAULT-VALUE})."})
    private int turns = 5;

    @Option(names = "--members", paramLabel = "N", split = ",", description = "Members (default: ${DEFAULT-VALUE}).")
    private List<Integer> members = List.of(2, 4);

    private final PrintStream output = System.out;
    private final Map<GroupTimes.Case, Samples> threads = new HashMap<>();
    private final Map<GroupTimes.Case, Samples> processes = new HashMap<>();
    private final Map<GroupTimes.Case, Samples> gloo = new HashMap<>();
    private final Map<Integer, Samples> copies = new HashMap<>();

    /** Measures and exits. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new CollectiveBenchmark()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        for (int turn = 0; turn < turns; turn++) {
            for (int size : members) {
                runThreads(size);
                runProcesses(size);
                new ProcessLines(List.of(List.of(python, script.toString(), Integer.toString(size)))).read(gloo);
            }
            for (int bytes : GroupTimes.SIZES) {
                copies.computeIfAbsent(bytes, _ -> new Samples()).add(GroupTimes.copySeconds(bytes));
            }
        }
        output.printf(Locale.ROOT, "%n%s", table());
        return 0;
    }

    private void runThreads(int size) throws InterruptedException {
        SharedGroup group = new SharedGroup(
                new Membership("bench", IntStream.range(0, size).boxed().toList(), DEADLINE));
        List<Thread> all = new ArrayList<>();
        for (int member = 0; member < size; member++) {
            CollectiveGroup own = group.join(member, 0);
            all.add(Thread.ofPlatform().start(() -> GroupTimes.measure(own, (what, seconds) -> {
                if (own.member() == 0) {
                    threads.computeIfAbsent(what, _ -> new Samples()).add(seconds);
                }
            })));
        }
        for (Thread each : all) {
            each.join();
        }
    }

    private void runProcesses(int size) throws IOException, InterruptedException {
        try (LinkTransport transport = LinkTransport.start(NodeMap.single(1), TransportSettings.defaults())) {
            new ProcessLines(IntStream.range(0, size).mapToObj(member -> peer(transport, size, member)).toList())
                    .read(processes);
        }
    }

    private static List<String> peer(LinkTransport transport, int size, int member) {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:+UseSerialGC"));
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.startsWith("--")).forEach(command::add);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), GroupPeer.class.getName(),
                transport.driverDirectory().toString(), Integer.toString(size), Integer.toString(member)));
        return command;
    }

    private MarkdownTable table() {
        MarkdownTable table = new MarkdownTable("collective", "members", "size", "one JVM, µs", "GB/s",
                "between JVMs, µs",
                "GB/s", "Gloo, µs", "GB/s", "one JVM over Gloo", "plain copy, GB/s");
        for (String collective : GroupTimes.COLLECTIVES) {
            for (int size : members) {
                for (int bytes : GroupTimes.SIZES) {
                    GroupTimes.Case what = new GroupTimes.Case(collective, size, bytes);
                    table.row(collective, Integer.toString(size), size(bytes), micros(threads.get(what)),
                            rate(bytes, threads.get(what)), micros(processes.get(what)),
                            rate(bytes, processes.get(what)), micros(gloo.get(what)), rate(bytes, gloo.get(what)),
                            ratio(gloo.get(what), threads.get(what)), rate(bytes, copies.get(bytes)));
                }
            }
        }
        return table;
    }

    private static String size(int bytes) {
        return bytes < 1 << 20 ? (bytes >> 10) + " KiB" : (bytes >> 20) + " MiB";
    }

    private static String micros(Samples seconds) {
        return seconds == null ? "-" : String.format(Locale.ROOT, "%,.0f", 1e6 * seconds.median());
    }

    private static String rate(int bytes, Samples seconds) {
        return seconds == null ? "-" : String.format(Locale.ROOT, "%.2f", bytes / 1e9 / seconds.median());
    }

    private static String ratio(Samples theirs, Samples ours) {
        return theirs == null ? "-" : String.format(Locale.ROOT, "%.1f", theirs.median() / ours.median());
    }
}
