package dev.troupe.serve;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.look.model.TextEnd;
import dev.troupe.look.model.TextPiece;
import dev.troupe.look.model.WrittenAnswer;
import dev.troupe.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/** The JSON objects of one answer, in the shapes of OpenAI: whole, or in chunks. */
final class AnswerWriter {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    private final boolean isChat;
    private final String model;
    private final Tokenizer tokenizer;
    private final String id;
    private final long created = Instant.now().getEpochSecond();

    AnswerWriter(boolean isChat, String model, Tokenizer tokenizer) {
        this.isChat = isChat;
        this.model = model;
        this.tokenizer = tokenizer;
        this.id = (isChat ? "chatcmpl-" : "cmpl-") + UUID.randomUUID();
    }

    ObjectNode whole(List<WrittenAnswer> answers, int promptTokens) {
        ObjectNode whole = head(isChat ? "chat.completion" : "text_completion");
        ArrayNode choices = whole.putArray("choices");
        int tokens = 0;
        for (int index = 0; index < answers.size(); index++) {
            WrittenAnswer answer = answers.get(index);
            ObjectNode choice = choices.addObject().put("index", index);
            if (isChat) {
                choice.putObject("message").put("role", "assistant").put("content", answer.text()).putNull("refusal");
            } else {
                choice.put("text", answer.text());
            }
            choice.set("logprobs", logProbabilities(answer.pieces()));
            choice.put("finish_reason", reason(answer.end()));
            tokens += answer.end().tokens();
        }
        whole.set("usage", usage(promptTokens, tokens));
        return whole;
    }

    /** Returns the chunk with which each answer of a chat begins. */
    ObjectNode begin(int index) {
        ObjectNode chunk = chunk();
        ObjectNode choice = choice(chunk, index);
        choice.putObject("delta").put("role", "assistant").put("content", "");
        return chunk;
    }

    ObjectNode piece(int index, TextPiece piece) {
        ObjectNode chunk = text(index, piece.text());
        ((ObjectNode) chunk.get("choices").get(0)).set("logprobs", logProbabilities(List.of(piece)));
        return chunk;
    }

    ObjectNode text(int index, String text) {
        ObjectNode chunk = chunk();
        ObjectNode choice = choice(chunk, index);
        if (isChat) {
            choice.putObject("delta").put("content", text);
        } else {
            choice.put("text", text);
        }
        return chunk;
    }

    ObjectNode end(int index, TextEnd end) {
        ObjectNode chunk = chunk();
        ObjectNode choice = choice(chunk, index);
        if (isChat) {
            choice.putObject("delta");
        } else {
            choice.put("text", "");
        }
        choice.put("finish_reason", reason(end));
        return chunk;
    }

    ObjectNode usageChunk(int promptTokens, int tokens) {
        ObjectNode chunk = chunk();
        chunk.putArray("choices");
        chunk.set("usage", usage(promptTokens, tokens));
        return chunk;
    }

    private ObjectNode chunk() {
        return head(isChat ? "chat.completion.chunk" : "text_completion");
    }

    private ObjectNode head(String object) {
        return JSON.objectNode().put("id", id).put("object", object).put("created", created).put("model", model);
    }

    private static ObjectNode choice(ObjectNode chunk, int index) {
        return chunk.putArray("choices").addObject().put("index", index).putNull("logprobs").putNull("finish_reason");
    }

    private static ObjectNode usage(int prompt, int tokens) {
        return JSON.objectNode().put("prompt_tokens", prompt).put("completion_tokens", tokens).put("total_tokens",
                prompt + tokens);
    }

    private static String reason(TextEnd end) {
        return end.reason() == TextEnd.Reason.LENGTH ? "length" : "stop";
    }

    private JsonNode logProbabilities(List<TextPiece> pieces) {
        if (pieces.stream().noneMatch(piece -> piece.logProbability().isPresent())) {
            return JSON.nullNode();
        }
        return isChat ? ofChat(pieces) : ofCompletion(pieces);
    }

    private ObjectNode ofChat(List<TextPiece> pieces) {
        ObjectNode all = JSON.objectNode();
        ArrayNode content = all.putArray("content");
        for (TextPiece piece : pieces) {
            ObjectNode token = token(content, piece.token(), piece.logProbability().orElseThrow());
            ArrayNode likeliest = token.putArray("top_logprobs");
            piece.likeliest().forEach(one -> token(likeliest, one.token(), one.logProbability()));
        }
        all.putNull("refusal");
        return all;
    }

    private ObjectNode token(ArrayNode list, int id, double logProbability) {
        String text = text(id);
        ObjectNode token = list.addObject().put("token", text).put("logprob", logProbability);
        if (text.indexOf('\uFFFD') < 0) {
            ArrayNode bytes = token.putArray("bytes");
            for (byte one : text.getBytes(StandardCharsets.UTF_8)) {
                bytes.add(one & 0xFF);
            }
        } else {
            token.putNull("bytes"); // a part of a character
        }
        return token;
    }

    private ObjectNode ofCompletion(List<TextPiece> pieces) {
        ObjectNode all = JSON.objectNode();
        ArrayNode tokens = all.putArray("tokens");
        ArrayNode probabilities = all.putArray("token_logprobs");
        ArrayNode likeliest = all.putArray("top_logprobs");
        for (TextPiece piece : pieces) {
            tokens.add(text(piece.token()));
            probabilities.add(piece.logProbability().orElseThrow());
            ObjectNode each = likeliest.addObject();
            piece.likeliest().forEach(one -> each.put(text(one.token()), one.logProbability()));
        }
        return all;
    }

    private String text(int token) {
        return tokenizer.decode(new int[]{token});
    }
}
