package dev.troupe.cluster.status;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.server.AllDirectives;
import org.apache.pekko.http.javadsl.server.Route;
import org.apache.pekko.management.javadsl.ManagementRouteProvider;
import org.apache.pekko.management.javadsl.ManagementRouteProviderSettings;

/** {@code GET /troupe/status} on the management port: the {@link NodeStatus} of this node, as JSON. */
public final class StatusRoutes extends AllDirectives implements ManagementRouteProvider {
    private static final JsonMapper JSON = JsonMapper.builder().addModule(new Jdk8Module()).build();

    private final ExtendedActorSystem system;

    /** Pekko Management finds this class through its configuration. */
    public StatusRoutes(ExtendedActorSystem system) {
        this.system = system;
    }

    @Override
    public Route routes(ManagementRouteProviderSettings settings) {
        return pathPrefix("troupe", () -> path("status", () -> get(() -> complete(
                HttpEntities.create(ContentTypes.APPLICATION_JSON, json(StatusBoard.of(system).status()))))));
    }

    private static String json(NodeStatus status) {
        try {
            return JSON.writeValueAsString(status);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("a status is numbers and names", impossible);
        }
    }

    /** Reads the answer of a node. */
    static NodeStatus read(String json) throws JsonProcessingException {
        return JSON.readValue(json, NodeStatus.class);
    }
}
