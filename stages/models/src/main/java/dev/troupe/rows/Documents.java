package dev.troupe.rows;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.chat.ChatTemplate;
import dev.troupe.chat.MarkedText;
import dev.troupe.data.DataException;
import dev.troupe.rows.Document.Part;
import dev.troupe.tokenizer.ByteTokenizer;
import dev.troupe.tokenizer.Gpt2Tokenizer;
import dev.troupe.tokenizer.HuggingFaceTokenizer;
import dev.troupe.tokenizer.Tokenizer;
import dev.troupe.tokenizer.file.TokenizerException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The maker of documents from text and chats. Any thread. */
final class Documents {
    private static final int SHOWN = 60;

    private final Tokenizer tokenizer;
    private ChatTemplate template;

    Documents(Tokenizer tokenizer) {
        this.tokenizer = tokenizer;
    }

    /**
     * Returns a text that identifies tokenizer and chat template: with the same text, the same files give the same
     * documents.
     */
    String identity() {
        return tokenizer.identity() + "\n" + switch (tokenizer) {
            case HuggingFaceTokenizer folder -> ChatTemplate.contents(Path.of(folder.name()));
            case ByteTokenizer _,Gpt2Tokenizer _ -> "";
        };
    }

    /**
     * Returns a document in which every token counts, with its begin and end tokens.
     *
     * @throws DataException if the text is empty, or has an unpaired surrogate
     */
    Document ofText(DocumentOrigin origin, String text) {
        requireCharacters(origin, text);
        int[] after = tokenizer.afterText();
        List<Part> parts = new ArrayList<>(List.of(new Part(tokenizer.beforeText(), true),
                new Part(tokenizer.encode(text), true), new Part(after, true)));
        tokenizer.endOfText().ifPresent(end -> {
            if (after.length == 0 || after[after.length - 1] != end) {
                parts.add(new Part(new int[]{end}, true));
            }
        });
        return document(origin, parts);
    }

    /**
     * Returns a document in which the assistant's words and the end tokens of its turns count. They are encoded separately
     * from the text before them, as in generation.
     *
     * @throws DataException if the chat has another shape, or the template refuses it or fails
     */
    Document ofChat(DocumentOrigin origin, ObjectNode chat) {
        requireMessages(origin, chat);
        try {
            MarkedText marked = Answers.in(origin, chat, template(origin));
            String text = marked.text();
            requireCharacters(origin, text);
            List<Part> parts = new ArrayList<>();
            int from = 0;
            for (MarkedText.Part answer : marked.answers()) {
                parts.add(new Part(tokenizer.encode(text.substring(from, answer.from())), false));
                parts.add(new Part(tokenizer.encode(text.substring(answer.from(), answer.to())), true));
                from = answer.to();
            }
            parts.add(new Part(tokenizer.encode(text.substring(from)), false));
            return document(origin, parts);
        } catch (TokenizerException refused) {
            throw new DataException(origin + ": " + refused.getMessage(), refused);
        }
    }

    private static Document document(DocumentOrigin origin, List<Part> parts) {
        Document document = Document.of(parts);
        if (document.length() == 0) {
            throw new DataException(origin + " is an empty document; leave it out");
        }
        return document;
    }

    /** Returns the template, which is read for the first chat; text files need none. */
    private synchronized ChatTemplate template(DocumentOrigin origin) {
        if (template == null) {
            template = ChatPrompts.templateOf(origin, tokenizer);
        }
        return template;
    }

    static void requireCharacters(Object origin, String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isHighSurrogate(text.charAt(i)) && i + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(i + 1))) {
                i++;
            } else if (Character.isSurrogate(text.charAt(i))) {
                throw new DataException(String.format(Locale.ROOT,
                        "%s has half a character, \\u%04x, in its text; write the text again", origin,
                        (int) text.charAt(i)));
            }
        }
    }

    static void requireMessages(Object origin, ObjectNode chat) {
        JsonNode messages = chat.path(Entry.MESSAGES);
        if (!messages.isArray() || messages.isEmpty()) {
            throw new DataException(origin + ": messages must be a list of at least one message, but found "
                    + shown(messages));
        }
        for (int i = 0; i < messages.size(); i++) {
            if (!messages.get(i).path("role").isTextual()) {
                throw new DataException(
                        origin + ": messages[" + i + "] must be an object with a role, a string, but found "
                                + shown(messages.get(i)));
            }
        }
        JsonNode tools = chat.path(Entry.TOOLS);
        if (!tools.isMissingNode() && !tools.isNull() && !tools.isArray()) {
            throw new DataException(origin + ": tools must be a list, but found " + shown(tools));
        }
    }

    private static String shown(JsonNode node) {
        String text = node.toString();
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "...";
    }
}
