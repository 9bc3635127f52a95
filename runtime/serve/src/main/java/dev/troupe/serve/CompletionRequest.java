package dev.troupe.serve;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.generate.Sampling;
import dev.troupe.look.model.Generation;
import dev.troupe.look.model.TextRequest;
import dev.troupe.plan.error.UserErrors;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

/**
 * A request for completions of a chat or of prompts.
 *
 * @param texts the answers to the first prompt, then those to the next; N in all
 * @param promptTokens the tokens of all prompts, each counted once
 * @param isStreamed whether pieces are sent as events
 * @param countsUsage whether the last event of a stream has the numbers of tokens
 */
record CompletionRequest(boolean isChat, List<TextRequest> texts, int promptTokens, boolean isStreamed,
        boolean countsUsage) {
    private static final int MOST_ANSWERS = 128;
    private static final int MOST_LIKELY = 20;
    private static final int MOST_STOPS = 16;
    /** OpenAI's default for completions; a chat has the rest of the context. */
    private static final int USUAL_TOKENS = 16;
    /** Members that change an answer, with what to do instead. */
    private static final Map<String, String> UNSUPPORTED = Map.of("tools", "send a chat without tools", "functions",
            "send a chat without functions", "logit_bias", "leave it out", "suffix", "leave it out", "audio",
            "leave it out", "prediction", "leave it out");

    /**
     * Reads a request.
     *
     * @param context the most tokens of a prompt and its text together
     * @param capacity the most texts of a request
     * @throws ApiException if it is wrong
     */
    static CompletionRequest of(Body body, boolean isChat, Generation generation, int context,
            int capacity) {
        UNSUPPORTED.forEach((name, instead) -> body.refuse(name, CompletionRequest::isNothing, instead));
        body.refuse("response_format", format -> format.path("type").asText().equals("text"),
                "only text is written; ask for JSON in a message, and parse the answer");
        body.refuse("echo", echo -> echo.isBoolean() && !echo.booleanValue(), "the prompt is not repeated");
        body.refuse("best_of", best -> best.isInt() && best.intValue() <= body.whole("n", 1, MOST_ANSWERS).orElse(1),
                "ask for n answers");
        List<int[]> prompts = isChat
                ? List.of(refusing("messages", () -> generation.tokensOfChat(chat(body))))
                : prompts(body, generation);
        Sampling sampling = sampling(body);
        List<String> stops = body.oneOrMore("stop", node -> node.isTextual() && !node.textValue().isEmpty(),
                "a string of at least one character", JsonNode::textValue);
        if (stops.size() > MOST_STOPS) {
            throw ApiException.wrong("stop", "stop must have at most " + MOST_STOPS + " strings, but has "
                    + stops.size());
        }
        Set<Integer> stopTokens = Set.copyOf(
                body.oneOrMore("stop_token_ids", JsonNode::isInt, "a token", JsonNode::intValue));
        int likeliest = likeliest(body, isChat);
        int answers = body.whole("n", 1, MOST_ANSWERS).orElse(1);
        if ((long) prompts.size() * answers > capacity) {
            throw ApiException.wrong(answers > capacity ? "n" : null, "a request must ask for at most " + capacity
                    + " texts, for which this server has slots and places in its queue, but asks for "
                    + (long) prompts.size() * answers);
        }
        List<TextRequest> texts = new ArrayList<>();
        for (int[] prompt : prompts) {
            int most = most(body, isChat, prompt.length, context);
            for (int answer = 0; answer < answers; answer++) {
                texts.add(new TextRequest(prompt, most, sampling, stops, stopTokens, likeliest).ofAnswer(answer));
            }
        }
        JsonNode usage = body.get("stream_options", "include_usage");
        return new CompletionRequest(isChat, List.copyOf(texts), prompts.stream().mapToInt(one -> one.length).sum(),
                body.flag("stream"), usage != null && usage.asBoolean());
    }

    /** Returns the same request to the model with an adapter. */
    CompletionRequest ofAdapter(Optional<String> name) {
        return new CompletionRequest(isChat, texts.stream().map(text -> text.ofAdapter(name)).toList(), promptTokens,
                isStreamed, countsUsage);
    }

    private static boolean isNothing(JsonNode member) {
        return member.isContainerNode() ? member.isEmpty() : member.asText().isEmpty();
    }

    private static ObjectNode chat(Body body) {
        if (!(body.get("messages") instanceof JsonNode messages) || !messages.isArray() || messages.isEmpty()) {
            throw ApiException.wrong("messages", "messages must be a list of at least one message");
        }
        ObjectNode chat = body.object().objectNode();
        chat.putArray("messages").addAll(messages.valueStream().map(CompletionRequest::message).toList());
        return chat;
    }

    /** Returns a message with one text in place of a list of parts of text. */
    private static JsonNode message(JsonNode message) {
        if (!message.path("content").isArray()) {
            return message;
        }
        StringBuilder text = new StringBuilder();
        for (JsonNode part : message.get("content")) {
            if (!part.path("type").asText().equals("text") || !part.path("text").isTextual()) {
                throw ApiException.wrong("messages", "a part of a message must be text, but is of the type "
                        + part.path("type").asText("none"));
            }
            text.append(part.get("text").textValue());
        }
        ObjectNode joined = message.deepCopy();
        return joined.put("content", text.toString());
    }

    private static List<int[]> prompts(Body body, Generation generation) {
        JsonNode prompt = body.get("prompt");
        if (prompt == null) {
            throw ApiException.wrong("prompt", "prompt is missing: a string, a list of tokens, or a list of such");
        }
        if (isTokens(prompt)) {
            return List.of(tokens(prompt, generation));
        }
        List<int[]> prompts = body.oneOrMore("prompt", one -> one.isTextual() || isTokens(one),
                "a string or a list of tokens", one -> tokens(one, generation));
        if (prompts.isEmpty()) {
            throw ApiException.wrong("prompt", "prompt must have at least one prompt, but is an empty list");
        }
        return prompts;
    }

    private static boolean isTokens(JsonNode node) {
        return node.isArray() && !node.isEmpty() && node.valueStream().allMatch(JsonNode::isInt);
    }

    private static int[] tokens(JsonNode prompt, Generation generation) {
        return refusing("prompt", () -> prompt.isTextual()
                ? generation.tokens(prompt.textValue())
                : generation.known(prompt.valueStream().mapToInt(JsonNode::intValue).toArray()));
    }

    private static Sampling sampling(Body body) {
        Sampling.Penalties penalties = refusing(null, () -> new Sampling.Penalties(
                body.number("repetition_penalty", 1), body.number("presence_penalty", 0),
                body.number("frequency_penalty", 0)));
        return refusing(null, () -> new Sampling(body.number("temperature", 1),
                Math.max(0, body.whole("top_k", -1, Integer.MAX_VALUE).orElse(0)),
                body.number("top_p", 1), body.number("min_p", 0), penalties,
                body.whole("seed").orElseGet(() -> ThreadLocalRandom.current().nextLong())));
    }

    private static int likeliest(Body body, boolean isChat) {
        if (!isChat) {
            return body.whole("logprobs", 0, MOST_LIKELY).orElse(-1);
        }
        OptionalInt likeliest = body.whole("top_logprobs", 0, MOST_LIKELY);
        if (!body.flag("logprobs")) {
            if (likeliest.isPresent()) {
                throw ApiException.wrong("top_logprobs", "top_logprobs needs logprobs = true");
            }
            return -1;
        }
        return likeliest.orElse(0);
    }

    private static int most(Body body, boolean isChat, int prompt, int context) {
        OptionalInt most = body.whole("max_completion_tokens", 1, Integer.MAX_VALUE);
        if (most.isEmpty()) {
            most = body.whole("max_tokens", 1, Integer.MAX_VALUE);
        }
        int usual = Math.clamp((long) context - prompt, 1, isChat ? context : USUAL_TOKENS);
        int count = most.orElse(usual);
        try {
            Generation.requireRoom(prompt, count, context);
        } catch (RuntimeException refused) {
            throw new ApiException(ApiException.BAD_REQUEST, "invalid_request_error", isChat ? "messages" : "prompt",
                    "context_length_exceeded", refused.getMessage());
        }
        return count;
    }

    /** Turns the sentence of a refusal into the answer to a request. */
    private static <T> T refusing(String parameter, Supplier<T> work) {
        try {
            return work.get();
        } catch (IllegalArgumentException refused) {
            throw ApiException.wrong(parameter, refused.getMessage());
        } catch (RuntimeException refused) {
            throw UserErrors.sentenceOf(refused)
                    .<RuntimeException>map(sentence -> ApiException.wrong(parameter, sentence))
                    .orElse(refused);
        }
    }
}
