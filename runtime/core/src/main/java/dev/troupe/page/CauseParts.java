package dev.troupe.page;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A step in which the parts of a gap are joined by their cause, with the rank and the action of the longest: all that is
 * drawn of it, and a third of its bytes where many ranks wait for each other.
 */
final class CauseParts {
    private static final JsonMapper JSON = new JsonMapper();

    /** The parts of one cause. */
    private static final class Joined {
        private long nanos;
        private long longest;
        private int rank;
        private String action;

        void add(long partNanos, int partRank, String partAction) {
            nanos += partNanos;
            if (partNanos > longest) {
                longest = partNanos;
                rank = partRank;
                action = partAction;
            }
        }
    }

    private CauseParts() {
    }

    /** Returns the text of a step's file with joined parts. */
    static byte[] joined(byte[] step) throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream(step.length / 2);
        try (JsonParser from = JSON.createParser(step); JsonGenerator to = JSON.createGenerator(text)) {
            while (from.nextToken() != null) {
                to.copyCurrentEvent(from);
                if (from.currentToken() == JsonToken.FIELD_NAME && from.currentName().equals("parts")) {
                    from.nextToken();
                    write(parts(from), to);
                }
            }
        }
        return text.toByteArray();
    }

    private static Map<String, Joined> parts(JsonParser from) throws IOException {
        Map<String, Joined> parts = new LinkedHashMap<>();
        while (from.nextToken() == JsonToken.START_OBJECT) {
            String cause = "";
            String action = null;
            long nanos = 0;
            int rank = 0;
            while (from.nextToken() == JsonToken.FIELD_NAME) {
                String field = from.currentName();
                from.nextToken();
                switch (field) {
                    case "cause" -> cause = from.getText();
                    case "ns" -> nanos = from.getLongValue();
                    case "rank" -> rank = from.getIntValue();
                    case "action" -> action = from.getText();
                    default -> from.skipChildren();
                }
            }
            parts.computeIfAbsent(cause, _ -> new Joined()).add(nanos, rank, action);
        }
        return parts;
    }

    private static void write(Map<String, Joined> parts, JsonGenerator to) throws IOException {
        to.writeStartArray();
        for (Map.Entry<String, Joined> part : parts.entrySet()) {
            to.writeStartObject();
            to.writeStringField("cause", part.getKey());
            to.writeNumberField("ns", part.getValue().nanos);
            to.writeNumberField("rank", part.getValue().rank);
            if (part.getValue().action != null) {
                to.writeStringField("action", part.getValue().action);
            }
            to.writeEndObject();
        }
        to.writeEndArray();
    }
}
