package dev.troupe.serve;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serial;

/** The refusal of a request, with the error object that OpenAI's clients read. */
final class ApiException extends RuntimeException {
    static final int BAD_REQUEST = 400;
    static final int UNAUTHORIZED = 401;
    static final int FORBIDDEN = 403;
    static final int NOT_FOUND = 404;
    static final int NOT_ALLOWED = 405;
    static final int TOO_LARGE = 413;
    static final int UNSUPPORTED = 415;
    static final int TOO_MANY = 429;
    static final int FAILED = 500;
    static final int UNAVAILABLE = 503;

    @Serial
    private static final long serialVersionUID = 1;

    private final int status;
    private final String type;
    private final String parameter;
    private final String code;

    /**
     * @param parameter the member of the body that is wrong; may be null
     * @param code the word for programs; may be null
     */
    ApiException(int status, String type, String parameter, String code, String sentence) {
        super(sentence);
        this.status = status;
        this.type = type;
        this.parameter = parameter;
        this.code = code;
    }

    /** Returns the refusal of a wrong member of the body. */
    static ApiException wrong(String parameter, String sentence) {
        return new ApiException(BAD_REQUEST, "invalid_request_error", parameter, null, sentence);
    }

    /** Returns the refusal of a request as a whole. */
    static ApiException refused(int status, String code, String sentence) {
        return new ApiException(status, "invalid_request_error", null, code, sentence);
    }

    /** Returns the answer to a request that this server cannot serve, now or because of a defect. */
    static ApiException ofServer(int status, String code, String sentence) {
        return new ApiException(status, "server_error", null, code, sentence);
    }

    int status() {
        return status;
    }

    ObjectNode body() {
        ObjectNode error = JsonNodeFactory.instance.objectNode();
        error.putObject("error").put("message", getMessage()).put("type", type).put("param", parameter).put("code",
                code);
        return error;
    }
}
