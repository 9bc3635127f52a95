package dev.troupe.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.nio.charset.StandardCharsets;

/**
 * The answer to a question over HTTP.
 *
 * @param status of HTTP
 * @param type media type of the body
 * @param body the bytes
 */
public record Answer(int status, String type, byte[] body) {
    /** The media type of an object. */
    public static final String JSON = "application/json";

    static final int OK = 200;
    private static final int BAD_REQUEST = 400;
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;
    private static final int UNAVAILABLE = 503;
    private static final JsonMapper MAPPER = new JsonMapper();

    /** Returns an answer of text. */
    public static Answer text(String type, String text) {
        return new Answer(OK, type, text.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns an answer that is an object. */
    public static Answer json(JsonNode object) {
        return text(JSON, object.toString());
    }

    /** The question makes no sense: what was expected, in a sentence. */
    public static Answer wrong(String sentence) {
        return problem(BAD_REQUEST, sentence);
    }

    /** The caller may not ask: why, in a sentence. */
    public static Answer forbidden(String sentence) {
        return problem(FORBIDDEN, sentence);
    }

    /** There is nothing of the kind: why, in a sentence. */
    public static Answer absent(String sentence) {
        return problem(NOT_FOUND, sentence);
    }

    /** A file cannot be read by this version: why, in a sentence. */
    public static Answer unreadable(String sentence) {
        return problem(CONFLICT, sentence);
    }

    /** There is nothing yet: why, in a sentence. */
    public static Answer notYet(String sentence) {
        return problem(UNAVAILABLE, sentence);
    }

    private static Answer problem(int status, String sentence) {
        return new Answer(status, JSON,
                MAPPER.createObjectNode().put("problem", sentence).toString().getBytes(StandardCharsets.UTF_8));
    }
}
