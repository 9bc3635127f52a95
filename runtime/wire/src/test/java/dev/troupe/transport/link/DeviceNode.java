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

/**
 * A process of node 1 with an engine of the device that all processes share. It comes with no rank, is given rank 1 in an
 * epoch, and sends rank 0 two messages; what rank 0 sends, it sends back. It waits until it is killed.
 */
final class DeviceNode extends Ear {
    static final Edge THERE = Samples.edge(0, 1);
    static final Edge BACK = Samples.edge(1, 0);
    /** INT32 elements: of more than a ring. */
    static final int LARGE = 700_003;
    /** What it prints when it has written half a piece. */
    static final String HALF = "half";
    /** What it prints when a device that it has held has begun to read. */
    static final String BEGUN = "begun";
    private static final List<Integer> AWAY = List.of(0, 0);
    private static final List<Integer> HOME = List.of(0, 1);
    private static final Set<Integer> BOTH = Set.of(0, 1);

    /** A fault of the node. */
    enum Way {
        NOTHING, WRITES_HALF, READS_FOR_EVER
    }

    private final LinkTransport transport;
    private final SharedDevice device;
    private final int epoch;

    private DeviceNode(LinkTransport transport, SharedDevice device, int epoch) {
        this.transport = transport;
        this.device = device;
        this.epoch = epoch;
    }

    static NodeMap map(int self) {
        return new NodeMap(self, AWAY, Collections.nCopies(2, new Endpoint("127.0.0.1", 0)), BOTH);
    }

    /** The map in an epoch in which rank 1 comes or goes. */
    static NodeMap moved(NodeMap before, int epoch) {
        return before.moved(epoch, before.nodeOfRank().equals(AWAY) ? HOME : AWAY, BOTH);
    }

    static TransportSettings settings(Path directory) {
        return new TransportSettings(Optional.of(directory), true, 1 << 20, Duration.ofSeconds(30));
    }

    static Process start(Path directory, int epoch, Way way) throws IOException {
        ProcessBuilder process = ChildJvm.of(DeviceNode.class, directory.toString(), "" + epoch, way.name());
        // Shared memory that nobody opens stays as a file if its process is killed.
        process.command().add(1, "-Djava.io.tmpdir=" + directory.toAbsolutePath().getParent());
        return process.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    @Override
    public void onLanded(MessageId id, Tensor tensor, int rows) {
        transport.send(new MessageId(epoch, id.pass(), BACK, id.microbatch()), device.engine(), tensor);
    }

    /** Directory of the driver, epoch in which it is given its rank, what goes wrong. */
    public static void main(String[] arguments) throws IOException {
        int epoch = Integer.parseInt(arguments[1]);
        SharedDevice device = SharedDevice.of(epoch);
        Way way = Way.valueOf(arguments[2]);
        device.isHeld = way == Way.READS_FOR_EVER;
        int messages = way == Way.READS_FOR_EVER ? 0 : 2;
        int pieces = LARGE * Integer.BYTES / settings(Path.of(arguments[0])).devicePieceBytes() + 1;
        device.lastWhole = way == Way.WRITES_HALF ? pieces + 1 : Integer.MAX_VALUE;
        NodeMap map = map(1);
        try (LinkTransport transport = LinkTransport.start(map, settings(Path.of(arguments[0])))) {
            transport.epoch(epoch, moved(map, epoch));
            transport.register(1, new DeviceNode(transport, device, epoch));
            transport.grant(epoch, THERE, device.engine(), device.zeros(LARGE));
            for (int message = 0; message < messages; message++) {
                transport.send(new MessageId(epoch, 5, BACK, message), device.engine(),
                        device.random(message, LARGE));
            }
            Samples.await(() -> way != Way.WRITES_HALF || device.toShared.get() > device.lastWhole);
            Samples.await(() -> way != Way.READS_FOR_EVER || device.fromShared.get() > 0);
            System.out.println(way == Way.WRITES_HALF ? HALF : BEGUN);
            System.in.transferTo(System.out);
        }
    }
}
