package dev.troupe.wire;

/**
 * The register of Aeron's stream ids, with a range for each use of the wire, so that uses of one media driver never collide.
 * Ids change with each move of ranks and with each process, since the streams of a killed process remain for a while. A
 * group that restarts in its place keeps its ids, since its frames carry epochs.
 *
 * <table> <caption>Ranges</caption> <tr><th>use</th><th>ids</th></tr> <tr><td>the transport, of a process to
 * itself</td><td>from -2,147,483,648 up, by the driver's number of the client</td></tr> <tr><td>the transport, between
 * nodes</td><td>from 7,000 + pairs of nodes down, a block of pairs for each move of ranks</td></tr>
 * <tr><td>collectives</td><td>from 100,000 up, 64 for each group and move of ranks</td></tr> <tr><td>copies of
 * snapshots</td><td>from 1,000,000,000 up, by the ID of the receiver</td></tr> </table>
 */
public final class StreamIds {
    /** The most members of a group that spans processes. */
    public static final int MOST_MEMBERS = 64;
    /** The limit of the numbers of processes' streams for copies. */
    public static final int MOST_RECEIVERS = 1 << 30;
    private static final int OF_PROCESSES = Integer.MIN_VALUE;
    /** Half of the negative numbers, far more than any driver has clients or any run moves of ranks. */
    private static final int MOST_CLIENTS = 1 << 30;
    /** Not 0, which other programs often use by default. */
    private static final int OF_NODES = 7000;
    private static final int OF_GROUPS = 100_000;
    private static final int OF_COPIES = 1_000_000_000;

    private StreamIds() {
    }

    /**
     * Returns the stream of a process to itself.
     *
     * @param clientId the number that the driver gave to the client
     */
    public static int ofProcess(long clientId) {
        return Math.toIntExact(OF_PROCESSES + within(clientId, MOST_CLIENTS, "clients of a media driver"));
    }

    /**
     * Returns the transport's stream from one node to another.
     *
     * @param since the epoch since which both nodes have their current ranks
     */
    public static int ofNodes(int fromNode, int toNode, int nodeCount, int since) {
        long pairs = (long) nodeCount * nodeCount;
        long first = OF_NODES + (long) fromNode * nodeCount + toNode;
        within(pairs, OF_GROUPS - OF_NODES + 1L, "pairs of nodes");
        return Math.toIntExact(first - within(since * pairs, MOST_CLIENTS, "moves of ranks"));
    }

    /**
     * Returns the stream from a member to the others of its group.
     *
     * @param number the number of the group, unique among the groups of its members' nodes
     */
    public static int ofMember(int number, int member) {
        return Math.toIntExact(OF_GROUPS + within((long) number * MOST_MEMBERS + member, OF_COPIES - OF_GROUPS,
                "groups and moves of ranks"));
    }

    /** Returns the stream on which all nodes send copies to a process. */
    public static int ofCopies(int receiverId) {
        return Math.toIntExact(OF_COPIES + within(receiverId, MOST_RECEIVERS, "receivers of copies"));
    }

    private static long within(long number, long limit, String what) {
        if (number < 0 || number >= limit) {
            throw new IllegalStateException(
                    "the " + limit + " stream ids for " + what + " do not reach: number " + number
                            + " was asked for; resume the run with fewer, or in new processes");
        }
        return number;
    }
}
