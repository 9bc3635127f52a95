package dev.troupe.run.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.nio.charset.StandardCharsets;

/** The answer to an HTTP request. */
public record Answer(int status, String type, byte[] body) {
    public static final String JSON = "application/json";

    public static final int OK = 200;
    private static final int BAD_REQUEST = 400;
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;
    private static final int UNAVAILABLE = 503;
    private static final JsonMapper MAPPER = new JsonMapper();

    public static Answer text(String type, String text) {
        return new Answer(OK, type, text.getBytes(StandardCharsets.UTF_8));
    }

    public static Answer json(JsonNode object) {
        return text(JSON, object.toString());
    }

    /** Returns the answer to a wrong request, with the expectation in a sentence. */
    public static Answer wrong(String sentence) {
        return problem(BAD_REQUEST, sentence);
    }

    /** Returns the answer to a caller without permission, with the reason in a sentence. */
    public static Answer forbidden(String sentence) {
        return problem(FORBIDDEN, sentence);
    }

    /** Returns the answer on a missing thing, with the reason in a sentence. */
    public static Answer absent(String sentence) {
        return problem(NOT_FOUND, sentence);
    }

    /** Returns the answer on an unreadable file, with the reason in a sentence. */
    public static Answer unreadable(String sentence) {
        return problem(CONFLICT, sentence);
    }

    /** Returns the answer on a thing that is not available yet, with the reason in a sentence. */
    public static Answer notYet(String sentence) {
        return problem(UNAVAILABLE, sentence);
    }

    private static Answer problem(int status, String sentence) {
        return new Answer(status, JSON,
                MAPPER.createObjectNode().put("problem", sentence).toString().getBytes(StandardCharsets.UTF_8));
    }
}
