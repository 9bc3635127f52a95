package dev.troupe.cli;

import dev.troupe.run.MemoryPlan;
import dev.troupe.run.RankMemory;
import java.util.Locale;

/** What a run takes in memory: a line for each rank. */
final class MemoryTable {
    /** Ranks of which each has its line; of more, the least and the most are said. */
    private static final int MOST_LINES = 16;

    /** What a process takes that trains next to nothing, measured (bench/step/README.md); {@code troupe} bounds the young heap. */
    private static final String BESIDE_TENSORS = "some 300 MiB (350 in a cluster) for the JVM and its libraries in each process";

    private MemoryTable() {
    }

    static String of(MemoryPlan memory) {
        StringBuilder text = new StringBuilder();
        text.append("takes ").append(MemoryPlan.text(memory.total())).append(" for tensors at most and ")
                .append(BESIDE_TENSORS);
        if (memory.ranks().size() > MOST_LINES) {
            text.append("; tensors ").append(MemoryPlan.text(memory.ranks().stream().mapToLong(RankMemory::total).min()
                    .orElseThrow())).append(" to ")
                    .append(MemoryPlan.text(memory.ranks().stream().mapToLong(RankMemory::total).max().orElseThrow()))
                    .append(" a rank");
            return text.toString();
        }
        text.append(":\n");
        line(text, "", "weights", "gradients", "optimizer", "activations", "boundary", "snapshots", "copies",
                "together");
        for (RankMemory rank : memory.ranks()) {
            line(text, "rank " + rank.rank(), MemoryPlan.text(rank.weights()), MemoryPlan.text(rank.gradients()),
                    MemoryPlan.text(rank.optimizer()), MemoryPlan.text(rank.activations()),
                    MemoryPlan.text(rank.boundary()), MemoryPlan.text(rank.snapshots()), MemoryPlan.text(rank.copies()),
                    MemoryPlan.text(rank.total()));
        }
        return text.toString().stripTrailing();
    }

    private static void line(StringBuilder text, Object... cells) {
        text.append(String.format(Locale.ROOT, "%-8s %11s %11s %11s %11s %11s %11s %11s %11s%n", cells));
    }
}
