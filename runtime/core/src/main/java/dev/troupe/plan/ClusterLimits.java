package dev.troupe.plan;

import dev.troupe.collective.Membership;
import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.config.group.GroupKind;
import dev.troupe.config.group.ParallelLayout;
import dev.troupe.model.ModelSpec;
import java.util.List;
import java.util.Locale;

/**
 * The limits of a run in several processes: the ranks of a group between processes, and the size of control messages. The
 * size is an upper bound from the CBOR sizes of the message's parts. A message larger than a frame would be dropped, and the
 * run would wait for it.
 */
public final class ClusterLimits {
    /** Bytes of a frame, {@code pekko.remote.artery.advanced.maximum-frame-size}. */
    static final int FRAME_BYTES = 256 << 10;
    /** The envelope, addresses of actors, and names of parts that occur once. */
    private static final int ENVELOPE_BYTES = 8 << 10;
    /** The loss of a microbatch: an array of a number of 32 bits and one of 64. */
    private static final int PAIR_BYTES = 1 + 5 + 9;
    /** A squared sum: the same, and the part of the block, a number below 24. */
    private static final int SUM_BYTES = PAIR_BYTES + 1;
    /** An edge with the names of its parts, and the head of its bits. */
    private static final int EDGE_BYTES = 128;
    /** A name's head, and the number of the rank. */
    private static final int AROUND_NAME_BYTES = 2 + 5;

    private ClusterLimits() {
    }

    /**
     * Checks a run in several processes.
     *
     * @throws UsageException with the number that is too large and the key to change
     */
    public static void require(RunSpec spec, ModelSpec model) {
        if (spec.cluster().isEmpty()) {
            return;
        }
        requireGroups(spec.parallel().ranks(), spec.cluster().get().nodeOfRank());
        long room = FRAME_BYTES - ENVELOPE_BYTES;
        int microbatches = spec.microbatchCount();
        int virtualStages = spec.parallel().virtualStages();
        long blocks = model.blockCount() + 2L;
        long blocksOfRank = Math.min(blocks, Math.ceilDiv(blocks, spec.parallel().stageCount()) * virtualStages);
        int mostParameters = model.layers().stream().mapToInt(layer -> layer.parameters().size()).max().orElseThrow();
        // A sum for each block, or for each parameter if a half continues the block of another stage.
        long passDone = (long) PAIR_BYTES * microbatches
                + SUM_BYTES * (blocksOfRank + (long) mostParameters * virtualStages);
        if (passDone > room) {
            throw new UsageException(String.format(Locale.ROOT,
                    "the report of a rank at the end of a step could take %,d bytes (%,d microbatches, %,d blocks), and a"
                            + " control message between processes has room for %,d: lower training.global-batch-size, or"
                            + " raise training.microbatch-size or parallel.pipeline",
                    passDone, microbatches, blocksOfRank, room));
        }
        // Forwards and gradients of each stage, and of a table.
        long standing = (2L * virtualStages + 2) * (EDGE_BYTES + Math.ceilDiv(microbatches, Byte.SIZE));
        if (standing > room) {
            throw new UsageException(String.format(Locale.ROOT,
                    "the report of a rank in a recovery could take %,d bytes (%,d virtual stages, %,d microbatches), and"
                            + " a control message between processes has room for %,d: lower parallel.virtual-stages or"
                            + " training.global-batch-size, or raise training.microbatch-size",
                    standing, virtualStages, microbatches, room));
        }
        requireHosts(spec.cluster().get(), spec.parallel().worldSize(), room);
    }

    private static void requireGroups(ParallelLayout ranks, List<Integer> nodeOfRank) {
        for (GroupKind kind : List.of(GroupKind.TENSOR, GroupKind.DATA)) { // groups of experts are parts of those of data
            for (List<Integer> group : ranks.groups(kind)) {
                long nodes = group.stream().map(nodeOfRank::get).distinct().count();
                if (nodes > 1 && group.size() > Membership.MOST_BETWEEN_PROCESSES) {
                    throw new UsageException(String.format(Locale.ROOT,
                            "parallel.%s = %d ranks are a group on %d nodes, and a group between processes has at most %d:"
                                    + " lower it, or give all ranks of such a group to one node (cluster.nodes)",
                            kind.word(), group.size(), nodes,
                            Membership.MOST_BETWEEN_PROCESSES));
                }
            }
        }
    }

    private static void requireHosts(ClusterSpec cluster, int ranks, long room) {
        int longest = cluster.nodes().stream().map(NodeSpec::name).mapToInt(String::length).max().orElse(0);
        long hosts = (long) ranks * (longest + AROUND_NAME_BYTES);
        if (hosts > room) {
            throw new UsageException(String.format(Locale.ROOT,
                    "the list of where %,d ranks are could take %,d bytes, with names of up to %d letters, and a control"
                            + " message between processes has room for %,d: take fewer ranks, or shorter names of nodes",
                    ranks, hosts, longest, room));
        }
    }
}
