package dev.troupe.page;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.schedule.idle.Cause;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What is drawn of a step, in as few bytes as may be: numbers in rows, and the parts of a gap joined by their cause, with
 * the rank and the action of the longest. Its schema is {@code docs/schema/step-drawing.json}.
 */
final class StepDrawing {
    private static final JsonMapper JSON = new JsonMapper();
    /** What is not drawn; messages are asked for when somebody points at an action. */
    private static final Set<String> LEFT_OUT = Set.of("messages", "costs", "roots");
    private static final List<String> CAUSES = Arrays.stream(Cause.values()).map(Cause::code).toList();
    /** The place of a gap behind the last action. */
    private static final int BEHIND = -1;

    /** The parts of one cause. */
    private static final class Joined {
        private long nanos;
        private long longest;
        private int rank;
        private String action;

        void add(JsonNode part) {
            long partNanos = part.path("ns").longValue();
            nanos += partNanos;
            if (partNanos > longest) {
                longest = partNanos;
                rank = part.path("rank").intValue();
                action = part.path("action").textValue();
            }
        }
    }

    private StepDrawing() {
    }

    /** Returns what is drawn of the text of a step's file. */
    static byte[] of(byte[] step) throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream(step.length / 8);
        try (JsonParser from = JSON.createParser(step); JsonGenerator to = JSON.createGenerator(text)) {
            from.nextToken();
            to.writeStartObject();
            to.writeArrayFieldStart("causes");
            for (String cause : CAUSES) {
                to.writeString(cause);
            }
            to.writeEndArray();
            while (from.nextToken() == JsonToken.FIELD_NAME) {
                String field = from.currentName();
                from.nextToken();
                if (LEFT_OUT.contains(field)) {
                    from.skipChildren();
                } else if (field.equals("ranks")) {
                    to.writeArrayFieldStart("ranks");
                    while (from.nextToken() == JsonToken.START_OBJECT) { // one at a time, since there may be many
                        write(JSON.readTree(from), to);
                    }
                    to.writeEndArray();
                } else {
                    to.writeFieldName(field);
                    to.copyCurrentStructure(from);
                }
            }
            to.writeEndObject();
        }
        return text.toByteArray();
    }

    private static void write(JsonNode rank, JsonGenerator to) throws IOException {
        Map<String, Integer> places = new HashMap<>();
        to.writeStartObject();
        to.writeNumberField("rank", rank.path("rank").intValue());
        to.writeFieldName("idle_ns");
        to.writeTree(rank.path("idle_ns"));
        to.writeArrayFieldStart("actions");
        for (JsonNode action : rank.path("actions")) {
            places.put(action.path("action").textValue(), places.size());
            to.writeString(action.path("action").textValue());
        }
        to.writeEndArray();
        to.writeArrayFieldStart("times_ns");
        for (JsonNode action : rank.path("actions")) {
            for (String time : List.of("start_ns", "end_ns", "planned_start_ns", "planned_end_ns")) {
                to.writeNumber(action.path(time).longValue());
            }
        }
        to.writeEndArray();
        to.writeArrayFieldStart("gaps");
        for (JsonNode gap : rank.path("gaps")) {
            to.writeStartArray();
            to.writeNumber(places.getOrDefault(gap.path("action").asText(), BEHIND));
            to.writeNumber(gap.path("inside").booleanValue() ? 1 : 0);
            to.writeNumber(gap.path("start_ns").longValue());
            to.writeNumber(gap.path("ns").longValue());
            for (Map.Entry<String, Joined> part : joined(gap.path("parts")).entrySet()) {
                write(part.getKey(), part.getValue(), to);
            }
            to.writeEndArray();
        }
        to.writeEndArray();
        to.writeEndObject();
    }

    private static Map<String, Joined> joined(JsonNode parts) {
        Map<String, Joined> joined = new LinkedHashMap<>();
        parts.forEach(part -> joined.computeIfAbsent(part.path("cause").asText(), _ -> new Joined()).add(part));
        return joined;
    }

    private static void write(String cause, Joined part, JsonGenerator to) throws IOException {
        to.writeStartArray();
        to.writeNumber(CAUSES.indexOf(cause));
        to.writeNumber(part.nanos);
        to.writeNumber(part.rank);
        if (part.action != null) {
            to.writeString(part.action);
        }
        to.writeEndArray();
    }
}
