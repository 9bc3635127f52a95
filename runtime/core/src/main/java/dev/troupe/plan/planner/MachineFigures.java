package dev.troupe.plan.planner;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigUtil;
import dev.troupe.plan.UsageException;
import dev.troupe.schedule.simulator.Hop;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;

/**
 * The figures of the machines that a file assumes, in HOCON: {@code device-flops} (operations a second of one rank, as its
 * products reach them), {@code node-ranks} (ranks of a machine), {@code inside} and {@code between} ({@code latency} and
 * {@code bandwidth} in bytes a second, of one edge within a machine and of one between two), and {@code memory} of a rank.
 *
 * @param deviceFlops 0: the file has none
 * @param memoryBytes of a rank; empty: the file has none
 * @param measured the measured way from each machine to each, in place of {@code between}; empty if it is assumed
 */
public record MachineFigures(double deviceFlops, int nodeRanks, Hop inside, Hop between, OptionalLong memoryBytes,
        List<List<Hop>> measured) {
    private static final String FLOPS = "device-flops";
    private static final String RANKS = "node-ranks";
    private static final String MEMORY = "memory";
    private static final Set<String> KEYS = Set.of(FLOPS, RANKS, MEMORY, "inside.latency", "inside.bandwidth",
            "between.latency", "between.bandwidth");

    public MachineFigures {
        measured = measured.stream().map(List::copyOf).toList();
    }

    /** Creates figures with the same way between any two machines. */
    public MachineFigures(double deviceFlops, int nodeRanks, Hop inside, Hop between, OptionalLong memoryBytes) {
        this(deviceFlops, nodeRanks, inside, between, memoryBytes, List.of());
    }

    /** Returns the way from one machine to another, or within one. */
    Hop way(int from, int to) {
        return from == to ? inside : measured.isEmpty() ? between : measured.get(from).get(to);
    }

    /** Returns these figures with measured ways between machines, from each to each; one to itself does not count. */
    public MachineFigures withMeasured(List<List<Hop>> ways) {
        return new MachineFigures(deviceFlops, nodeRanks, inside, between, memoryBytes, ways);
    }

    /** Returns the figures of machines with links that take no time. */
    public static MachineFigures withFreeLinks(double deviceFlops, int nodeRanks) {
        return new MachineFigures(deviceFlops, nodeRanks, Hop.FREE, Hop.FREE, OptionalLong.empty());
    }

    /** Returns these figures with another number of ranks on a machine. */
    public MachineFigures withNodeRanks(int ranks) {
        return new MachineFigures(deviceFlops, ranks, inside, between, memoryBytes, measured);
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
            double flops = figures.getDouble(FLOPS);
            int ranks = figures.hasPath(RANKS) ? figures.getInt(RANKS) : 1;
            long memory = figures.hasPath(MEMORY) ? figures.getBytes(MEMORY) : 1;
            if (!(flops > 0 && flops < Double.POSITIVE_INFINITY) || ranks < 1 || memory < 1) {
                throw new UsageException(file + ": " + FLOPS + " and " + MEMORY + " must be above 0 and " + RANKS
                        + " 1 or more, but found " + flops + ", " + memory + " and " + ranks);
            }
            return new MachineFigures(flops, ranks, hop(figures, "inside"), hop(figures, "between"),
                    figures.hasPath(MEMORY) ? OptionalLong.of(memory) : OptionalLong.empty());
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

    private static Hop hop(Config figures, String link) {
        return figures.hasPath(link)
                ? new Hop(figures.getDuration(link + ".latency").toNanos(), figures.getBytes(link + ".bandwidth"))
                : Hop.FREE;
    }
}
