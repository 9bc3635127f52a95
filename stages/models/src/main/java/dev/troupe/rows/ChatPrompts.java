package dev.troupe.rows;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.chat.ChatTemplate;
import dev.troupe.data.DataException;
import dev.troupe.tokenizer.ByteTokenizer;
import dev.troupe.tokenizer.Gpt2Tokenizer;
import dev.troupe.tokenizer.HuggingFaceTokenizer;
import dev.troupe.tokenizer.Tokenizer;
import java.util.List;

/**
 * The prompts of chats: what a model continues with its next answer, in the text of its chat template.
 *
 * <p>Thread rule: any thread.
 */
public final class ChatPrompts {
    private static final String WHAT = "the chat";

    private final Tokenizer tokenizer;
    private ChatTemplate template;

    /**
     * A message of a chat.
     *
     * @param role {@code system}, {@code user}, {@code assistant}, or another that the template knows
     */
    public record Turn(String role, String content) {
    }

    public ChatPrompts(Tokenizer tokenizer) {
        this.tokenizer = tokenizer;
    }

    /** As {@link #tokens(ObjectNode)}, of messages alone. */
    public int[] tokens(List<Turn> turns) {
        ObjectNode chat = JsonNodeFactory.instance.objectNode();
        ArrayNode messages = chat.putArray(Entry.MESSAGES);
        turns.forEach(turn -> messages.addObject().put("role", turn.role()).put("content", turn.content()));
        return tokens(chat);
    }

    /**
     * Returns the tokens of a chat up to the begin of the next answer.
     *
     * @param chat an object with {@code messages}; its other members are variables of the template too
     * @throws DataException if the tokenizer has no template, or the chat has another shape
     * @throws dev.troupe.tokenizer.file.TokenizerException if the template refuses the chat or fails
     */
    public int[] tokens(ObjectNode chat) {
        Documents.requireMessages(WHAT, chat);
        ObjectNode asked = chat.deepCopy();
        asked.put("add_generation_prompt", true);
        String text = template().render(asked);
        Documents.requireCharacters(WHAT, text);
        return tokenizer.encode(text);
    }

    /** Returns the template, which is read for the first chat. */
    private synchronized ChatTemplate template() {
        if (template == null) {
            template = templateOf(WHAT, tokenizer);
        }
        return template;
    }

    /**
     * Reads the template of a tokenizer.
     *
     * @param what the text with messages, for the sentence
     */
    static ChatTemplate templateOf(Object what, Tokenizer tokenizer) {
        return switch (tokenizer) {
            case HuggingFaceTokenizer folder -> ChatTemplate.of(folder.directory());
            case ByteTokenizer _,Gpt2Tokenizer _ ->
                throw new DataException(what + " has messages, which need a chat template, but the tokenizer is "
                        + tokenizer.name() + "; set data.tokenizer to a folder with a tokenizer.json and a chat"
                        + " template");
        };
    }
}
