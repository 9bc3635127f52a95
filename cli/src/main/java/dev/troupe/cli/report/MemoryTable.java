package dev.troupe.cli.report;

import dev.troupe.plan.memory.MemoryPlan;
import dev.troupe.plan.memory.RankMemory;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.LongSummaryStatistics;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** The memory of a run: a line for each rank. */
public final class MemoryTable {
    /** The most ranks with a line each; for more ranks, only minimum and maximum are printed. */
    private static final int MOST_LINES = 16;

    /**
     * The measured memory of a process that trains a tiny model (bench/step/README.md); {@code troupe} limits the young
     * heap.
     */
    private static final String OF_THE_JVM = "about 300 MiB (350 in a cluster) for the JVM and its libraries in each process";

    private static final List<String> HEADINGS = List.of("rank", "weights", "gradients", "optimizer", "activations",
            "boundary", "snapshots", "copies", "together");

    /** Explains the headings. */
    private static final String LEGEND = "boundary: messages received or waiting to be sent; snapshots: the states from which a"
            + " rank restarts after a failure; copies: of its snapshots, in the memory of another node.";

    private MemoryTable() {
    }

    public static String of(MemoryPlan memory, Terminal terminal) {
        String sum = "needs at most " + MemoryPlan.text(memory.total()) + " for tensors, and " + OF_THE_JVM;
        List<RankMemory> ranks = memory.ranks();
        if (ranks.size() > MOST_LINES) {
            LongSummaryStatistics totals = ranks.stream().mapToLong(RankMemory::total).summaryStatistics();
            return Columns.wrapped(sum + "; tensors " + MemoryPlan.text(totals.getMin()) + " to "
                    + MemoryPlan.text(totals.getMax()) + " a rank", terminal.lineColumns(), "");
        }
        List<List<String>> rows = ranks.stream().map(rank -> Stream.concat(Stream.of("" + rank.rank()),
                LongStream.of(rank.weights(), rank.gradients(), rank.optimizer(), rank.activations(), rank.boundary(),
                        rank.snapshots(), rank.copies(), rank.total()).mapToObj(MemoryPlan::text))
                .toList()).toList();
        return Columns.wrapped(sum + ":", terminal.lineColumns(), "") + "\n"
                + Columns.fitted(HEADINGS, rows, terminal.tableColumns()) + "\n"
                + Columns.wrapped(LEGEND + fragmentation(ranks) + offloaded(ranks), terminal.lineColumns(), "");
    }

    private static String offloaded(List<RankMemory> ranks) {
        long bytes = ranks.stream().mapToLong(RankMemory::offloaded).sum();
        return bytes == 0
                ? ""
                : " In files, not in memory: " + MemoryPlan.text(bytes)
                        + " of state (offload).";
    }

    /** Returns the fragmentation of the pools of activations, in which every tensor keeps its shape. */
    private static String fragmentation(List<RankMemory> ranks) {
        DoubleSummaryStatistics shares = ranks.stream().map(rank -> rank.pool().free()).filter(free -> free.bytes() > 0)
                .mapToDouble(free -> 100.0 * free.largestBytes() / free.bytes()).summaryStatistics();
        return shares.getCount() == 0
                ? ""
                : String.format(Locale.ROOT,
                        " Between steps activations are free, and the largest free tensor has %.0f to %.0f %% of them on"
                                + " a rank (fragmentation).",
                        shares.getMin(), shares.getMax());
    }
}
