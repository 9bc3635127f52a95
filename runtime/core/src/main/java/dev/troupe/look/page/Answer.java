package dev.troupe.look.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.nio.charset.StandardCharsets;

/**
 * The answer to a question over HTTP.
 *
 * @param type media type of the body
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

    public static Answer json(JsonNode object) {
        return text(JSON, object.toString());
    }

    /** The answer to a wrong question, with the expectation in a sentence. */
    public static Answer wrong(String sentence) {
        return problem(BAD_REQUEST, sentence);
    }

    /** The answer to a caller who may not ask, with the reason in a sentence. */
    public static Answer forbidden(String sentence) {
        return problem(FORBIDDEN, sentence);
    }

    /** The answer about a missing thing, with the reason in a sentence. */
    public static Answer absent(String sentence) {
        return problem(NOT_FOUND, sentence);
    }

    /** The answer about an unreadable file, with the reason in a sentence. */
    public static Answer unreadable(String sentence) {
        return problem(CONFLICT, sentence);
    }

    /** The answer about a thing that comes later, with the reason in a sentence. */
    public static Answer notYet(String sentence) {
        return problem(UNAVAILABLE, sentence);
    }

    private static Answer problem(int status, String sentence) {
        return new Answer(status, JSON,
                MAPPER.createObjectNode().put("problem", sentence).toString().getBytes(StandardCharsets.UTF_8));
    }
}
