package dev.troupe.liveness;

import dev.troupe.config.RunSpecReader;
import dev.troupe.config.cluster.ClusterSpec;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A cluster of the nodes a and b on this machine, on free ports. */
public final class TwoNodes {
    private TwoNodes() {
    }

    public static ClusterSpec find() throws IOException {
        List<ServerSocket> held = new ArrayList<>();
        for (int port = 0; port < 4; port++) {
            held.add(new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1")));
        }
        List<Integer> ports = held.stream().map(ServerSocket::getLocalPort).toList();
        for (ServerSocket socket : held) {
            socket.close();
        }
        return RunSpecReader.read(Optional.empty(), List.of("parallel.pipeline=2", "name=liveness-" + ports.get(0),
                "cluster.nodes=[" + node("a", ports.get(0), ports.get(1)) + "," + node("b", ports.get(2), ports.get(3))
                        + "]"))
                .cluster().orElseThrow();
    }

    private static String node(String name, int control, int data) {
        return "{name=" + name + ",host=127.0.0.1,control-port=" + control + ",data-port=" + data + "}";
    }
}
