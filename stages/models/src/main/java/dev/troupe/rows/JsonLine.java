package dev.troupe.rows;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.data.DataException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Reads a line of JSON: an object with {@code documents}; other members are passed over. */
final class JsonLine {
    private static final String DOCUMENTS = "documents";
    private static final int SHOWN = 60;
    private static final JsonMapper JSON = new JsonMapper(JsonFactory.builder().streamReadConstraints(
            StreamReadConstraints.builder().maxStringLength(LineReader.LONGEST_BYTES).build()).build());

    private final Place place;
    private final JsonParser parser;
    private List<Document> documents;

    private JsonLine(Place place, JsonParser parser) {
        this.place = place;
        this.parser = parser;
    }

    /**
     * Reads a line.
     *
     * @throws DataException
     *             where it is no JSON, or of another shape
     */
    static List<Document> read(Place place, byte[] line) {
        try (JsonParser parser = JSON.createParser(LineReader.decoded(place, line))) {
            return new JsonLine(place, parser).read();
        } catch (JsonProcessingException malformed) {
            throw new DataException("%s is no JSON: column %d: %s".formatted(place,
                    malformed.getLocation() == null ? 1 : malformed.getLocation().getColumnNr(),
                    malformed.getOriginalMessage().lines().findFirst().orElse("")), malformed);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    private List<Document> read() throws IOException {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw new DataException(place + " must be a JSON object with " + expected() + ", but found " + shown());
        }
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.currentName();
            parser.nextToken();
            switch (name) {
                case DOCUMENTS -> documents = documents();
                default -> parser.skipChildren();
            }
        }
        if (parser.nextToken() != null) {
            throw new DataException(place + " must be one JSON object, but has " + shown() + " after it");
        }
        if (documents == null) {
            throw new DataException(place + " must be a JSON object with " + expected() + ", but has none");
        }
        return documents;
    }

    private static String expected() {
        return "\"" + DOCUMENTS + "\"";
    }

    private List<Document> documents() throws IOException {
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            throw refusal(DOCUMENTS, "a list");
        }
        List<Document> read = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            read.add(document(DOCUMENTS + "[" + read.size() + "]"));
        }
        if (read.isEmpty()) {
            throw new DataException(place + ": " + DOCUMENTS + " must have at least one document, but is empty");
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
            throw new DataException(place + ": " + path + " must have ids and counted, but has no "
                    + (ids == null ? "ids" : "counted"));
        }
        if (ids.length == 0) {
            throw new DataException(place + ": " + path + ".ids must have at least one id, but is empty");
        }
        if (counted.length != ids.length) {
            throw new DataException(place + ": " + path + ".counted must have a value for each of " + ids.length
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
        return new DataException(place + ": " + path + " must be " + expected + ", but found " + shown());
    }

    /** What the parser has read last, as the line has it. */
    private String shown() throws IOException {
        String found = switch (parser.currentToken()) {
            case null -> "nothing";
            case START_ARRAY -> "a list";
            case START_OBJECT -> "an object";
            case VALUE_STRING -> "\"" + parser.getText() + "\"";
            default -> parser.getText();
        };
        return found.length() <= SHOWN ? found : found.substring(0, SHOWN) + "...";
    }
}
