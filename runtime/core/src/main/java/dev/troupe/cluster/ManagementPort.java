package dev.troupe.cluster;

import dev.troupe.cluster.tls.Certificates;
import dev.troupe.config.cluster.ClusterSpec;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.http.javadsl.ConnectionContext;
import org.apache.pekko.http.javadsl.model.Uri;
import org.apache.pekko.management.javadsl.PekkoManagement;

/** A node's management port. */
final class ManagementPort {
    private ManagementPort() {
    }

    /**
     * Opens it: HTTP, and where the cluster has certificates HTTPS with them. They are read for every connection, so that
     * they can be renewed.
     */
    static CompletionStage<Uri> open(ActorSystem system, ClusterSpec cluster) {
        return PekkoManagement.get(system)
                .start(settings -> cluster.tls()
                        .map(tls -> settings.withHttpsConnectionContext(
                                ConnectionContext.httpsServer(() -> Certificates.server(tls))))
                        .orElse(settings));
    }
}
