package dev.troupe.run.cluster.liveness;

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
        return find("127.0.0.1");
    }

    /** Returns a cluster on an address of the loopback; b has the higher control port. */
    public static ClusterSpec find(String host) throws IOException {
        List<ServerSocket> held = new ArrayList<>();
        for (int port = 0; port < 6; port++) {
            held.add(new ServerSocket(0, 1, InetAddress.getByName(host.replace("\"", ""))));
        }
        List<Integer> ports = held.stream().map(ServerSocket::getLocalPort).sorted().toList();
        for (ServerSocket socket : held) {
            socket.close();
        }
        return RunSpecReader.read(Optional.empty(), List.of("parallel.pipeline=2", "name=liveness-" + ports.get(0),
                "cluster.nodes=[" + node("a", host, ports.subList(0, 3)) + "," + node("b", host, ports.subList(3, 6))
                        + "]"))
                .cluster().orElseThrow();
    }

    private static String node(String name, String host, List<Integer> ports) {
        return "{name=" + name + ",host=" + host + ",control-port=" + ports.get(0) + ",data-port=" + ports.get(1)
                + ",management-port=" + ports.get(2) + "}";
    }
}
