package dev.troupe.rows;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.io.JsonEOFException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.data.DataException;
import dev.troupe.tokenizer.file.JsonDefect;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * The reader of a line of JSON: an object with {@code documents}, {@code text} or {@code messages}; its other members are
 * ignored. A member that is null is absent, as in data sets with several kinds of documents.
 */
final class JsonLine {
    private static final int SHOWN = 60;
    private static final int SHOWN_NAMES = 5;
    /** NaN and infinity are numbers, as in Python's JSON. */
    private static final JsonMapper JSON = new JsonMapper(JsonFactory.builder()
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).streamReadConstraints(
                    StreamReadConstraints.builder().maxStringLength(LineReader.LONGEST_BYTES).build())
            .build());

    private final DocumentOrigin origin;
    private final JsonParser parser;
    private final ObjectNode chat = JSON.createObjectNode();
    private final List<String> otherNames = new ArrayList<>();
    private String kind;
    private List<Document> documents;
    private String text;

    private JsonLine(DocumentOrigin origin, JsonParser parser) {
        this.origin = origin;
        this.parser = parser;
    }

    /**
     * Reads a line.
     *
     * @throws DataException if it is no JSON, or of another shape
     */
    static Entry read(DocumentOrigin origin, byte[] line) {
        try (JsonParser parser = JSON.createParser(decoded(origin, line))) {
            return new JsonLine(origin, parser).read();
        } catch (JsonProcessingException malformed) {
            throw new DataException(String.format(Locale.ROOT, "%s is no JSON: column %d: %s", origin,
                    malformed.getLocation() == null ? 1 : malformed.getLocation().getColumnNr(),
                    JsonDefect.wordsOf(malformed) + (malformed instanceof JsonEOFException
                            ? "; write each document on a line of its own"
                            : "")),
                    malformed);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    static String decoded(DocumentOrigin origin, byte[] line) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line)).toString();
        } catch (CharacterCodingException malformed) {
            throw new DataException(origin + " is not UTF-8; convert the file to UTF-8", malformed);
        }
    }

    private Entry read() throws IOException {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw new DataException(origin + " must be a JSON object with " + expected() + ", but found " + shown()
                    + (parser.currentToken() == JsonToken.START_ARRAY
                            ? "; write each document on a line of its own"
                            : ""));
        }
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.currentName();
            parser.nextToken();
            switch (name) {
                case Entry.DOCUMENTS, Entry.TEXT, Entry.MESSAGES -> member(name);
                case Entry.TOOLS -> chat.set(name, JSON.<JsonNode>readTree(parser));
                default -> {
                    other("\"" + cut(name) + "\"");
                    parser.skipChildren();
                }
            }
        }
        if (parser.nextToken() != null) {
            throw new DataException(origin + " must be one JSON object, but has " + shown() + " after it");
        }
        return switch (kind) {
            case null -> throw new DataException(origin + " must be a JSON object with " + expected()
                    + ", but has " + (otherNames.isEmpty() ? "none of them" : String.join(", ", otherNames)));
            case Entry.DOCUMENTS -> new Entry.Row(documents);
            case Entry.TEXT -> new Entry.Text(text);
            default -> new Entry.Chat(chat);
        };
    }

    private static String expected() {
        return "\"" + Entry.DOCUMENTS + "\", \"" + Entry.TEXT + "\" or \"" + Entry.MESSAGES + "\"";
    }

    private void other(String name) {
        if (otherNames.size() <= SHOWN_NAMES) {
            otherNames.add(otherNames.size() < SHOWN_NAMES ? name : "...");
        }
    }

    private void member(String name) throws IOException {
        if (parser.currentToken() == JsonToken.VALUE_NULL) {
            other("\"" + name + "\": null");
            return;
        }
        if (kind != null) {
            throw new DataException(origin + " must have one of " + expected() + ", but has \"" + kind + "\" and \""
                    + name + "\"; leave one out");
        }
        kind = name;
        switch (name) {
            case Entry.DOCUMENTS -> documents = documents();
            case Entry.TEXT -> text = text();
            default -> chat.set(name, JSON.<JsonNode>readTree(parser));
        }
    }

    private String text() throws IOException {
        if (parser.currentToken() != JsonToken.VALUE_STRING) {
            throw refusal(Entry.TEXT, "a string");
        }
        return parser.getText();
    }

    private List<Document> documents() throws IOException {
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            throw refusal(Entry.DOCUMENTS, "a list");
        }
        List<Document> read = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            read.add(document(Entry.DOCUMENTS + "[" + read.size() + "]"));
        }
        if (read.isEmpty()) {
            throw new DataException(origin + ": " + Entry.DOCUMENTS + " must have at least one document, but is empty");
        }
        return read;
    }

    private Document document(String path) throws IOException {
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            throw refusal(path, "an object with ids and counted");
        }
        int[] ids = null;
        int[] counted = null;
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.currentName();
            parser.nextToken();
            switch (name) {
                case "ids" -> ids = numbers(path + ".ids", Document.LARGEST_ID,
                        "a token's id, a whole number from 0 to " + Document.LARGEST_ID);
                case "counted" -> counted = numbers(path + ".counted", 1, "0 or 1");
                default -> parser.skipChildren();
            }
        }
        if (ids == null || counted == null) {
            throw new DataException(origin + ": " + path + " must have ids and counted, but has no "
                    + (ids == null ? "ids" : "counted"));
        }
        if (ids.length == 0) {
            throw new DataException(origin + ": " + path + ".ids must have at least one id, but is empty");
        }
        if (counted.length != ids.length) {
            throw new DataException(origin + ": " + path + ".counted must have a value for each of " + ids.length
                    + " ids, but has " + counted.length);
        }
        boolean[] isCounted = new boolean[ids.length];
        for (int i = 0; i < ids.length; i++) {
            isCounted[i] = counted[i] == 1;
        }
        return new Document(ids, isCounted);
    }

    private int[] numbers(String path, int largest, String expected) throws IOException {
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            throw refusal(path, "a list");
        }
        int[] numbers = new int[64];
        int count = 0;
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            boolean isInt = parser.currentToken() == JsonToken.VALUE_NUMBER_INT
                    && parser.getNumberType() == JsonParser.NumberType.INT;
            if (!isInt || parser.getIntValue() < 0 || parser.getIntValue() > largest) {
                throw refusal(path + "[" + count + "]", expected);
            }
            if (count == numbers.length) {
                numbers = Arrays.copyOf(numbers, 2 * count);
            }
            numbers[count++] = parser.getIntValue();
        }
        return Arrays.copyOf(numbers, count);
    }

    private DataException refusal(String path, String expected) throws IOException {
        return new DataException(origin + ": " + path + " must be " + expected + ", but found " + shown());
    }

    /** Returns the parser's last token as it is in the line. */
    private String shown() throws IOException {
        String found = switch (parser.currentToken()) {
            case null -> "nothing";
            case START_ARRAY -> "a list";
            case START_OBJECT -> "an object";
            case VALUE_STRING -> "\"" + parser.getText() + "\"";
            default -> parser.getText();
        };
        return cut(found);
    }

    private static String cut(String found) {
        return found.length() <= SHOWN ? found : found.substring(0, SHOWN) + "...";
    }
}
