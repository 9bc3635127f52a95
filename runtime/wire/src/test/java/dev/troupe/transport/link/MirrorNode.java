package dev.troupe.transport.link;

import dev.troupe.ChildJvm;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A process of node 2: it comes with no rank, is given rank 2 in an epoch, and sends what rank 0 sends it back, by way
 * of its own stream to itself.
 */
final class MirrorNode extends Ear {
    private static final Edge THERE = Samples.edge(0, 2);
    private static final Edge INSIDE = Samples.edge(2, 2);
    private static final Edge BACK = Samples.edge(2, 0);
    private static final int ELEMENTS = 1 << 20;

    private final LinkTransport transport;
    private final int epoch;

    private MirrorNode(LinkTransport transport, int epoch) {
        this.transport = transport;
        this.epoch = epoch;
    }

    @Override
    public void onLanded(MessageId id, Tensor tensor, int rows) {
        boolean isInside = id.edge().equals(INSIDE);
        transport.grant(epoch, id.edge(), Samples.ENGINE, Samples.zeros(ELEMENTS));
        transport.send(new MessageId(epoch, id.pass(), isInside ? BACK : INSIDE, id.microbatch()), Samples.ENGINE,
                tensor);
    }

    /** Starts a process that waits until it is killed. */
    static Process start(Path directory, int epoch, List<Integer> nodeOfRank, List<Integer> movedTo)
            throws IOException {
        return ChildJvm.of(MirrorNode.class, directory.toString(), "" + epoch, text(nodeOfRank), text(movedTo))
                .redirectOutput(ProcessBuilder.Redirect.INHERIT).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    private static String text(List<Integer> nodes) {
        return nodes.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    private static List<Integer> nodes(String text) {
        return Stream.of(text.split(",")).map(Integer::valueOf).toList();
    }

    /** Directory of the driver, epoch in which it is given its rank, nodes of the ranks before that and then. */
    public static void main(String[] arguments) throws IOException {
        int epoch = Integer.parseInt(arguments[1]);
        List<Integer> before = nodes(arguments[2]);
        NodeMap map = new NodeMap(2, before, Collections.nCopies(3, new Endpoint("127.0.0.1", 0)), Set.of());
        try (LinkTransport transport = LinkTransport.start(map, new TransportSettings(
                Optional.of(Path.of(arguments[0])), true, 1 << 20, Duration.ofSeconds(30)))) {
            transport.epoch(epoch, map.moved(epoch, nodes(arguments[3]), Set.of(0, 1, 2)));
            transport.register(2, new MirrorNode(transport, epoch));
            for (Edge edge : List.of(THERE, INSIDE)) {
                transport.grant(epoch, edge, Samples.ENGINE, Samples.zeros(ELEMENTS));
            }
            System.in.transferTo(System.out);
        }
    }
}
