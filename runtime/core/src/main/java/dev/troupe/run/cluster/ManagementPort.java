package dev.troupe.run.cluster;

import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.run.cluster.status.StatusRoutes;
import dev.troupe.run.cluster.tls.Certificates;
import dev.troupe.run.http.Answer;
import dev.troupe.run.http.PageServer;
import dev.troupe.run.http.Routes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.cluster.Cluster;
import org.apache.pekko.cluster.MemberStatus;

/**
 * A node's management port: its health and status, and the page of the run. Without certificates it answers only under the
 * addresses of its node. Another name would come from a page of another site that resolves to this address.
 */
final class ManagementPort {
    private static final Pattern LITERAL = Pattern.compile("\\[?[0-9a-fA-F.:]*[.:][0-9a-fA-F.:]*]?");
    private static final String ALIVE = "/alive";
    private static final String READY = "/ready";
    /** The paths that are permitted from other machines. */
    private static final Set<String> OF_NODE = Set.of(ALIVE, READY, StatusRoutes.PATH);
    private static final Set<MemberStatus> MEMBER = Set.of(MemberStatus.up(), MemberStatus.weaklyUp());
    private static final String TEXT = "text/plain; charset=utf-8";

    private ManagementPort() {
    }

    /**
     * Opens the port until the actor system ends, with HTTPS if the cluster has certificates.
     *
     * @throws IOException if the port is taken
     */
    static void open(ActorSystem system, ClusterSpec cluster, NodeSpec self, Routes page)
            throws IOException {
        Routes all = StatusRoutes.with(page, system).with(ALIVE, _ -> Answer.text(TEXT, "OK"))
                .with(READY, _ -> MEMBER.contains(Cluster.get(system).selfMember().status())
                        ? Answer.text(TEXT, "OK")
                        : Answer.notYet("the node is no member of the cluster yet"));
        PageServer server = PageServer.open(new InetSocketAddress(self.host(), self.managementPort()),
                cluster.tls().map(Certificates::server),
                cluster.tls().isPresent() ? (_, _) -> Optional.empty() : guard(self), all);
        system.registerOnTermination(server::close);
    }

    /** Returns the rule of a port without certificates. The page is only for this machine. */
    static PageServer.Guard guard(NodeSpec self) {
        return (host, path) -> {
            if (!isOwn(self, host)) {
                return Optional.of(Answer.forbidden("this port answers under the address of its node alone: ask "
                        + self.host() + ":" + self.managementPort()));
            }
            return !OF_NODE.contains(path)
                    && !(PageServer.LOOPBACK.contains(self.host()) && PageServer.LOOPBACK.contains(host))
                            ? Optional.of(
                                    Answer.forbidden("the page is served under a loopback address, or with cluster.tls;"
                                            + " elsewhere troupe page serves it from the run's directory"))
                            : Optional.empty();
        };
    }

    private static boolean isOwn(NodeSpec self, String host) {
        if (host.equalsIgnoreCase(self.host())) {
            return true;
        }
        try {
            InetAddress own = InetAddress.getByName(self.host());
            return own.isLoopbackAddress() && PageServer.LOOPBACK.contains(host)
                    || LITERAL.matcher(host).matches() && own.equals(InetAddress.getByName(host));
        } catch (UnknownHostException _) {
            return false;
        }
    }
}
