package dev.troupe.run.cluster.status;

import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.config.cluster.TlsSpec;
import dev.troupe.run.cluster.tls.Certificates;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;

/** The client that asks nodes for their status. Thread rule: any thread. */
public final class StatusQuery implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private final HttpClient client;
    private final String scheme;

    /**
     * @param tls the certificates of the cluster, if it has any
     * @throws dev.troupe.plan.UsageException if one cannot be read
     */
    public StatusQuery(Optional<TlsSpec> tls) {
        HttpClient.Builder builder = HttpClient.newBuilder().connectTimeout(PATIENCE);
        tls.map(Certificates::client).ifPresent(builder::sslContext);
        this.client = builder.build();
        this.scheme = tls.isPresent() ? "https" : "http";
    }

    /** Returns the status of a node; empty if its management port does not answer within 3 seconds. */
    public Optional<NodeStatus> of(NodeSpec node) throws InterruptedException {
        URI address = URI.create(scheme + "://" + node.address(node.managementPort()) + StatusRoutes.PATH);
        try {
            HttpResponse<String> answer = client.send(HttpRequest.newBuilder(address).timeout(PATIENCE).build(),
                    HttpResponse.BodyHandlers.ofString());
            return answer.statusCode() == 200 ? Optional.of(StatusRoutes.read(answer.body())) : Optional.empty();
        } catch (IOException nobody) {
            return Optional.empty();
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
