package dev.troupe.run.cluster.machine;

import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.plan.UsageException;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketException;

/** The ports that a node listens on. */
public final class Ports {
    private Ports() {
    }

    /**
     * Checks the ports before any part starts, since a taken port would otherwise show as stack traces of many threads.
     *
     * @throws UsageException if a port is taken
     */
    public static void requireFree(ClusterSpec cluster, NodeSpec self) {
        requireTcp(self, "control-port", self.controlPort());
        requireTcp(self, "data-port", self.dataPort());
        if (self.managementPort() > 0) {
            requireTcp(self, "management-port", self.managementPort());
        }
        if (cluster.nodesOn(self.host()).size() < cluster.nodes().size()) { // nodes of one host exchange tensors in memory
            try (DatagramSocket socket = new DatagramSocket(null)) {
                socket.bind(new InetSocketAddress(self.host(), self.dataPort()));
            } catch (SocketException taken) {
                throw refused(self, "data-port", self.dataPort(), taken);
            }
        }
    }

    private static void requireTcp(NodeSpec self, String key, int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(new InetSocketAddress(self.host(), port));
        } catch (IOException taken) {
            throw refused(self, key, port, taken);
        }
    }

    /** Returns the refusal of a port; another process may have taken it after the check. */
    public static UsageException refused(NodeSpec self, String key, int port, Throwable cause) {
        return new UsageException("node " + self.name() + " cannot listen on " + self.address(port) + " ("
                + cause.getMessage()
                + "); see that the host is this machine and that nothing else has the port, or choose"
                + " another " + key + " in cluster.nodes", cause);
    }
}
