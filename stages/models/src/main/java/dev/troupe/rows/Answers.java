package dev.troupe.rows;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.chat.ChatTemplate;
import dev.troupe.chat.MarkedText;
import dev.troupe.chat.MarkedText.Part;
import dev.troupe.data.DataException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The search for the assistant's words in the text of a chat. A template with {@code {% generation %}} marks them. With
 * another template they are the text that an assistant's message adds after the generation prompt, up to the end of its
 * turn. This requires that the text of the whole chat begins with the text of its first messages.
 */
final class Answers {
    private static final String ASSISTANT = "assistant";

    private final ChatTemplate template;
    private final ObjectNode chat;
    private final ArrayNode messages;

    private Answers(ChatTemplate template, ObjectNode chat) {
        this.template = template;
        this.chat = chat;
        this.messages = (ArrayNode) chat.get(Entry.MESSAGES);
    }

    /**
     * Returns the text of a chat, with the assistant's words marked.
     *
     * @param chat variables of the template, with a list of messages
     * @throws DataException if the text of the whole chat does not begin with the text of its first messages
     * @throws dev.troupe.tokenizer.file.TokenizerException if the template fails
     */
    static MarkedText in(DocumentOrigin origin, ObjectNode chat, ChatTemplate template) {
        return template.marksAnswers() ? template.renderMarked(chat) : new Answers(template, chat).found(origin);
    }

    private MarkedText found(DocumentOrigin origin) {
        String whole = template.render(chat);
        List<Part> answers = new ArrayList<>();
        for (int i = 0; i < messages.size(); i++) {
            if (ASSISTANT.equals(messages.get(i).path("role").textValue())) {
                Part answer = answer(origin, i, whole);
                if (!answers.isEmpty() && answer.from() < answers.getLast().to()) {
                    throw untold(origin, i);
                }
                answers.add(answer);
            }
        }
        return new MarkedText(whole, answers);
    }

    private Part answer(DocumentOrigin origin, int index, String whole) {
        String before = text(index, true);
        String through = index + 1 == messages.size() ? whole : text(index + 1, false);
        if (!whole.startsWith(through) || !through.startsWith(before)) {
            throw untold(origin, index);
        }
        return new Part(before.length(), endOfTurn(through, before.length(), messages.get(index).path("content")));
    }

    private static DataException untold(DocumentOrigin origin, int index) {
        return new DataException(
                String.format(Locale.ROOT,
                        "%s: the chat template writes messages[%d] or earlier ones differently if others follow, "
                                + "so the assistant's words cannot be found; mark them "
                                + "in the template with {%% generation %%}, or cut the chat after its last answer",
                        origin, index));
    }

    private String text(int count, boolean asksForAnswer) {
        ObjectNode some = chat.objectNode();
        some.setAll(chat);
        ArrayNode first = some.putArray(Entry.MESSAGES);
        for (int i = 0; i < count; i++) {
            first.add(messages.get(i));
        }
        some.put("add_generation_prompt", asksForAnswer);
        return template.render(some);
    }

    /**
     * Returns the end of a turn. White space after an end token belongs to the template, unless the turn has no such token.
     */
    private static int endOfTurn(String text, int from, JsonNode content) {
        String answer = text.substring(from);
        String shorter = answer.stripTrailing();
        String said = content.asText("").strip();
        return from + (!said.isEmpty() && shorter.endsWith(said) ? answer : shorter).length();
    }
}
