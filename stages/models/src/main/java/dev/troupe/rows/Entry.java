package dev.troupe.rows;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** The content of a line of a file. */
sealed interface Entry {
    /** A row as it is, of at least one document. */
    record Row(List<Document> documents) implements Entry {
    }

    /** A document as text. */
    record Text(String text) implements Entry {
    }

    /** A document as a chat: {@code messages}, and {@code tools} if there are any, in the form of a chat template. */
    record Chat(ObjectNode variables) implements Entry {
    }

    /** The member of a line, or the column, of each kind, and the one next to messages. */
    String DOCUMENTS = "documents";
    String TEXT = "text";
    String MESSAGES = "messages";
    String TOOLS = "tools";
}
