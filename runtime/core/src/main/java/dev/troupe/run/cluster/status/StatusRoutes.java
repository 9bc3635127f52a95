package dev.troupe.run.cluster.status;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import dev.troupe.run.http.Answer;
import dev.troupe.run.http.Routes;
import org.apache.pekko.actor.ActorSystem;

/** The route of a node's {@link NodeStatus} on its management port, as JSON. */
public final class StatusRoutes {
    public static final String PATH = "/troupe/status";

    private static final JsonMapper JSON = JsonMapper.builder().addModule(new Jdk8Module()).build();

    private StatusRoutes() {
    }

    public static Routes with(Routes routes, ActorSystem system) {
        return routes.with(PATH, _ -> Answer.text(Answer.JSON, json(StatusBoard.of(system).status())));
    }

    private static String json(NodeStatus status) {
        try {
            return JSON.writeValueAsString(status);
        } catch (JsonProcessingException impossible) {
            throw new IllegalStateException("a status is numbers and names", impossible);
        }
    }

    static NodeStatus read(String json) throws JsonProcessingException {
        return JSON.readValue(json, NodeStatus.class);
    }
}
