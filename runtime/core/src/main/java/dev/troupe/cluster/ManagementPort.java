package dev.troupe.cluster;

import dev.troupe.cluster.tls.Certificates;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.page.RunPage;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.regex.Pattern;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.http.javadsl.ConnectionContext;
import org.apache.pekko.http.javadsl.Http;
import org.apache.pekko.http.javadsl.ServerBinding;
import org.apache.pekko.http.javadsl.ServerBuilder;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.javadsl.server.AllDirectives;
import org.apache.pekko.http.javadsl.server.Route;
import org.apache.pekko.management.javadsl.PekkoManagement;

/**
 * A node's management port. Without certificates it answers only under the addresses of its node: a request under another
 * name comes from a page of another site with a name that resolves to this address.
 */
final class ManagementPort extends AllDirectives {
    private static final Pattern LITERAL = Pattern.compile("\\[?[0-9a-fA-F.:]*[.:][0-9a-fA-F.:]*]?");
    private static final Duration CLOSING = Duration.ofSeconds(1);

    private final NodeSpec self;

    private ManagementPort(NodeSpec self) {
        this.self = self;
    }

    /**
     * Opens the port for HTTP, or for HTTPS if the cluster has certificates. They are read for every connection, so that
     * they can be renewed.
     */
    static CompletionStage<ServerBinding> open(ActorSystem system, ClusterSpec cluster, NodeSpec self) {
        ServerBuilder server = Http.get(system).newServerAt(self.host(), self.managementPort());
        Route all = PekkoManagement.get(system).getRoutes();
        Route guarded = cluster.tls().isPresent() ? all : new ManagementPort(self).guarded(all);
        return cluster.tls()
                .map(tls -> server.enableHttps(ConnectionContext.httpsServer(() -> Certificates.server(tls))))
                .orElse(server).bind(guarded).thenApply(port -> port.addToCoordinatedShutdown(CLOSING, () -> system));
    }

    private Route guarded(Route all) {
        return extractUri(uri -> isOwn(uri.host().address())
                ? all
                : complete(StatusCodes.FORBIDDEN, "this port answers under the address of its node alone: ask "
                        + self.host() + ":" + self.managementPort() + "\n"));
    }

    private boolean isOwn(String host) {
        if (host.equalsIgnoreCase(self.host())) {
            return true;
        }
        try {
            InetAddress own = InetAddress.getByName(self.host());
            return own.isLoopbackAddress() && RunPage.LOOPBACK.contains(host)
                    || LITERAL.matcher(host).matches() && own.equals(InetAddress.getByName(host));
        } catch (UnknownHostException _) {
            return false;
        }
    }
}
