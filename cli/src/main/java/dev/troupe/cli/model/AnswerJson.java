package dev.troupe.cli.model;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.look.model.TextPiece;
import dev.troupe.look.model.WrittenAnswer;
import dev.troupe.tokenizer.Tokenizer;
import java.util.Locale;

/** A text as a JSON object: prompt, number of the answer, text, the reason of its end, and tokens. */
final class AnswerJson {
    private static final JsonMapper JSON = new JsonMapper();

    private AnswerJson() {
    }

    static ObjectNode of(Tokenizer tokenizer, JsonNode prompt, int number, WrittenAnswer answer) {
        ObjectNode line = JSON.createObjectNode();
        line.set("prompt", prompt);
        line.put("answer", number).put("text", answer.text())
                .put("end", answer.end().reason().name().toLowerCase(Locale.ROOT)).put("tokens", answer.end().tokens());
        if (answer.pieces().stream().anyMatch(piece -> piece.logProbability().isPresent())) {
            ArrayNode each = line.putArray("log-probabilities");
            answer.pieces().forEach(piece -> each.add(token(tokenizer, piece)));
        }
        return line;
    }

    private static ObjectNode token(Tokenizer tokenizer, TextPiece piece) {
        ObjectNode token = token(tokenizer, piece.token(), piece.logProbability().orElseThrow());
        if (!piece.likeliest().isEmpty()) {
            ArrayNode likeliest = token.putArray("likeliest");
            piece.likeliest().forEach(one -> likeliest.add(token(tokenizer, one.token(), one.logProbability())));
        }
        return token;
    }

    private static ObjectNode token(Tokenizer tokenizer, int id, double logProbability) {
        return JSON.createObjectNode().put("token", id).put("text", tokenizer.decode(new int[]{id}))
                .put("log-probability", logProbability);
    }
}
