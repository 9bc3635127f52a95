package dev.troupe.plan.planner;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValueType;
import dev.troupe.plan.UsageException;
import dev.troupe.schedule.simulator.Hop;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The figures of the machines that a file assumes, in HOCON: {@code device-flops} (operations a second of one rank, as its
 * products reach them, or a list with one for each machine), {@code node-ranks} (ranks of a machine), {@code inside} and
 * {@code between} ({@code latency} and {@code bandwidth} in bytes a second, of one edge within a machine and of one between
 * two), and {@code memory} of a rank.
 *
 * @param deviceFlops of a rank of the fastest machine
 * @param memoryBytes of a rank; empty: the file has none
 * @param measured the measured way from each machine to each, in place of {@code between}; empty if it is assumed
 * @param speeds the speed of each machine, 1 for the fastest; empty if all are equal
 */
public record MachineFigures(double deviceFlops, int nodeRanks, Hop inside, Hop between, OptionalLong memoryBytes,
        List<List<Hop>> measured, List<Double> speeds) {
    private static final String FLOPS = "device-flops";
    private static final String RANKS = "node-ranks";
    private static final String MEMORY = "memory";
    private static final Set<String> KEYS = Set.of(FLOPS, RANKS, MEMORY, "inside.latency", "inside.bandwidth",
            "between.latency", "between.bandwidth");

    public MachineFigures {
        measured = measured.stream().map(List::copyOf).toList();
        speeds = List.copyOf(speeds);
    }

    /** Creates figures with the same way between any two machines. */
    public MachineFigures(double deviceFlops, int nodeRanks, Hop inside, Hop between, OptionalLong memoryBytes) {
        this(deviceFlops, nodeRanks, inside, between, memoryBytes, List.of(), List.of());
    }

    /** Returns the speed of a machine, 1 for the fastest. */
    public double speed(int machine) {
        return speeds.isEmpty() ? 1 : speeds.get(machine);
    }

    /** Returns these figures with another way between two ranks of a machine. */
    public MachineFigures withInside(Hop other) {
        return new MachineFigures(deviceFlops, nodeRanks, other, between, memoryBytes, measured, speeds);
    }

    /** Returns these figures with machines of given speeds, in any unit. */
    public MachineFigures withSpeeds(List<Double> others) {
        double most = Collections.max(others);
        boolean areEqual = others.stream().allMatch(speed -> speed == most);
        return new MachineFigures(deviceFlops, nodeRanks, inside, between, memoryBytes, measured,
                areEqual ? List.of() : others.stream().map(speed -> speed / most).toList());
    }

    /**
     * Returns these figures with other machines in the place of each.
     *
     * @param order for each place the index of its machine, each once
     */
    public MachineFigures inOrder(List<Integer> order) {
        return new MachineFigures(deviceFlops, nodeRanks, inside, between, memoryBytes,
                measured.isEmpty()
                        ? measured
                        : order.stream().map(from -> order.stream().map(to -> measured.get(from).get(to)).toList())
                                .toList(),
                speeds.isEmpty() ? speeds : order.stream().map(speeds::get).toList());
    }

    /**
     * Returns these figures with a share of the bandwidth between two machines, in both directions.
     *
     * @param machines the number of machines
     */
    public MachineFigures withShareOfLink(int machines, int one, int other, double share) {
        List<List<Hop>> ways = new ArrayList<>();
        for (int from = 0; from < machines; from++) {
            List<Hop> row = new ArrayList<>();
            for (int to = 0; to < machines; to++) {
                Hop way = way(from, to);
                boolean isLink = from == one && to == other || from == other && to == one;
                row.add(isLink ? new Hop(way.latencyNanos(), way.bytesPerSecond() * share) : way);
            }
            ways.add(row);
        }
        return withMeasured(ways);
    }

    /** Returns the way from one machine to another, or within one. */
    public Hop way(int from, int to) {
        return from == to ? inside : measured.isEmpty() ? between : measured.get(from).get(to);
    }

    /** Returns these figures with measured ways between machines, from each to each; one to itself does not count. */
    public MachineFigures withMeasured(List<List<Hop>> ways) {
        return new MachineFigures(deviceFlops, nodeRanks, inside, between, memoryBytes, ways, speeds);
    }

    /** Returns the figures of machines with links that take no time. */
    public static MachineFigures withFreeLinks(double deviceFlops, int nodeRanks) {
        return new MachineFigures(deviceFlops, nodeRanks, Hop.FREE, Hop.FREE, OptionalLong.empty());
    }

    /** Returns these figures with another number of ranks on a machine. */
    public MachineFigures withNodeRanks(int ranks) {
        return new MachineFigures(deviceFlops, ranks, inside, between, memoryBytes, measured, speeds);
    }

    /**
     * Reads a file.
     *
     * @throws UsageException if it cannot be read, lacks a key or has a value that cannot be
     */
    public static MachineFigures read(Path file) {
        if (!Files.isRegularFile(file)) {
            throw new UsageException("--costs: there is no file " + file + ": write one as docs/plan.md shows");
        }
        try {
            Config figures = ConfigFactory.parseFile(file.toFile()).resolve();
            Set<String> unknown = new TreeSet<>();
            figures.entrySet().forEach(entry -> unknown.add(String.join(".", ConfigUtil.splitPath(entry.getKey()))));
            unknown.removeAll(KEYS);
            if (!unknown.isEmpty()) {
                throw new UsageException(file + " has the key " + unknown.iterator().next() + ", but figures have "
                        + String.join(", ", new TreeSet<>(KEYS)));
            }
            List<Double> flops = figures.getValue(FLOPS).valueType() == ConfigValueType.LIST
                    ? figures.getDoubleList(FLOPS)
                    : List.of(figures.getDouble(FLOPS));
            int ranks = figures.hasPath(RANKS) ? figures.getInt(RANKS) : 1;
            long memory = figures.hasPath(MEMORY) ? figures.getBytes(MEMORY) : 1;
            if (flops.isEmpty() || flops.stream().anyMatch(rate -> !(rate > 0 && rate < Double.POSITIVE_INFINITY))
                    || ranks < 1 || memory < 1) {
                throw new UsageException(file + ": " + FLOPS + " and " + MEMORY + " must be above 0 and " + RANKS
                        + " 1 or more, but found " + (flops.size() == 1 ? flops.getFirst() : flops) + ", " + memory
                        + " and " + ranks);
            }
            return new MachineFigures(Collections.max(flops), ranks, hop(figures, "inside"), hop(figures, "between"),
                    figures.hasPath(MEMORY) ? OptionalLong.of(memory) : OptionalLong.empty()).withSpeeds(flops);
        } catch (ConfigException | IllegalArgumentException wrong) {
            throw new UsageException(file + " has no figures of machines: " + wrong.getMessage()
                    + ": write it as docs/plan.md shows", wrong);
        }
    }

    /**
     * Returns a number of bytes as HOCON writes it, such as 80GiB.
     *
     * @param option its name, for the sentence
     * @throws UsageException if it is none, or below 1
     */
    public static long bytes(String option, String text) {
        try {
            long bytes = ConfigFactory.parseMap(Map.of(MEMORY, text)).getBytes(MEMORY);
            if (bytes > 0) {
                return bytes;
            }
        } catch (ConfigException _) {
            // refused below
        }
        throw new UsageException(
                option + " must be a number of bytes above 0, such as 80GiB, but found \"" + text + '"');
    }

    /** Returns the file of these figures; measured ways are one, the slowest of each direction. */
    public String toHocon() {
        StringBuilder text = new StringBuilder();
        text.append(FLOPS).append(" = ").append(speeds.isEmpty()
                ? rate(deviceFlops)
                : speeds.stream().map(speed -> rate(deviceFlops * speed)).collect(Collectors.joining(", ", "[", "]")))
                .append('\n').append(RANKS).append(" = ").append(nodeRanks).append('\n');
        memoryBytes.ifPresent(bytes -> text.append(MEMORY).append(" = ").append(bytes).append("B\n"));
        Hop slowest = measured.isEmpty() ? between : null;
        for (int from = 0; from < measured.size(); from++) {
            for (int to = 0; to < measured.size(); to++) {
                if (from != to) {
                    Hop way = way(from, to);
                    slowest = slowest == null ? way : RankLinks.slower(slowest, way);
                }
            }
        }
        return text.append(text("inside", inside)).append(text("between", slowest == null ? between : slowest))
                .toString();
    }

    private static String rate(double flops) {
        return String.format(Locale.ROOT, "%.4g", flops);
    }

    private static String text(String link, Hop hop) {
        return hop.equals(Hop.FREE)
                ? ""
                : link + " { latency = " + hop.latencyNanos() + "ns, bandwidth = "
                        + Math.round(Math.min(hop.bytesPerSecond(), 1e15)) + "B }\n";
    }

    private static Hop hop(Config figures, String link) {
        return figures.hasPath(link)
                ? new Hop(figures.getDuration(link + ".latency").toNanos(), figures.getBytes(link + ".bandwidth"))
                : Hop.FREE;
    }
}
