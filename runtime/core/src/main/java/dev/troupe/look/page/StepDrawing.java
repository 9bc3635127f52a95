package dev.troupe.look.page;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.rank.idle.Cause;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The compact drawing of a step. Numbers are in rows, and the parts of a gap are joined by cause, with the rank and the
 * action of the longest. Its schema is {@code docs/schema/step-drawing.json}.
 */
final class StepDrawing {
    private static final JsonMapper JSON = new JsonMapper();
    /** The fields that are not drawn; the page requests messages when the pointer is on an action. */
    private static final Set<String> LEFT_OUT = Set.of("messages", "costs", "roots");
    private static final List<String> CAUSES = Arrays.stream(Cause.values()).map(Cause::code).toList();
    /** The times of an action, in their order in a drawing. */
    private static final List<String> TIMES = List.of("start_ns", "end_ns", "planned_start_ns", "planned_end_ns");
    /** The place of a gap after the last action. */
    private static final int AFTER_ALL = -1;

    /** The parts of a gap by cause, in the order in which the causes appear. */
    private static final class Parts {
        private final int[] met = new int[CAUSES.size()];
        private final long[] nanos = new long[CAUSES.size()];
        private final long[] longest = new long[CAUSES.size()];
        private final int[] ranks = new int[CAUSES.size()];
        private final String[] actions = new String[CAUSES.size()];
        private int count;

        void read(JsonParser from) throws IOException {
            for (int i = 0; i < count; i++) {
                nanos[met[i]] = 0;
                longest[met[i]] = 0;
            }
            count = 0;
            while (from.nextToken() == JsonToken.START_OBJECT) {
                int cause = 0;
                long partNanos = 0;
                int rank = 0;
                String action = null;
                while (from.nextToken() == JsonToken.FIELD_NAME) {
                    String field = from.currentName();
                    from.nextToken();
                    switch (field) {
                        case "cause" -> cause = CAUSES.indexOf(from.getText());
                        case "ns" -> partNanos = from.getLongValue();
                        case "rank" -> rank = from.getIntValue();
                        case "action" -> action = from.getText();
                        default -> from.skipChildren();
                    }
                }
                add(cause, partNanos, rank, action);
            }
        }

        private void add(int cause, long partNanos, int rank, String action) {
            if (nanos[cause] == 0) {
                met[count++] = cause;
            }
            nanos[cause] += partNanos;
            if (partNanos > longest[cause]) {
                longest[cause] = partNanos;
                ranks[cause] = rank;
                actions[cause] = action;
            }
        }

        void write(JsonGenerator to) throws IOException {
            for (int i = 0; i < count; i++) {
                int cause = met[i];
                to.writeStartArray();
                to.writeNumber(cause);
                to.writeNumber(nanos[cause]);
                to.writeNumber(ranks[cause]);
                if (actions[cause] != null) {
                    to.writeString(actions[cause]);
                }
                to.writeEndArray();
            }
        }
    }

    private StepDrawing() {
    }

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
                    while (from.nextToken() == JsonToken.START_OBJECT) {
                        copyRank(from, to);
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

    private static void copyRank(JsonParser from, JsonGenerator to) throws IOException {
        Map<String, Integer> places = new HashMap<>();
        to.writeStartObject();
        while (from.nextToken() == JsonToken.FIELD_NAME) {
            String field = from.currentName();
            from.nextToken();
            switch (field) {
                case "rank", "idle_ns" -> {
                    to.writeFieldName(field);
                    to.copyCurrentStructure(from);
                }
                case "actions" -> copyActions(from, to, places);
                case "gaps" -> copyGaps(from, to, places);
                default -> from.skipChildren();
            }
        }
        to.writeEndObject();
    }

    /** Copies the actions and records their places; in a step's file they come before the gaps. */
    private static void copyActions(JsonParser from, JsonGenerator to, Map<String, Integer> places)
            throws IOException {
        long[] times = new long[64];
        int count = 0;
        to.writeArrayFieldStart("actions");
        while (from.nextToken() == JsonToken.START_OBJECT) {
            int at = TIMES.size() * count;
            if (at == times.length) {
                times = Arrays.copyOf(times, 2 * at);
            }
            String name = null;
            while (from.nextToken() == JsonToken.FIELD_NAME) {
                String field = from.currentName();
                from.nextToken();
                int time = TIMES.indexOf(field);
                if (time >= 0) {
                    times[at + time] = from.getLongValue();
                } else if (field.equals("action")) {
                    name = from.getText();
                } else {
                    from.skipChildren();
                }
            }
            places.put(name, count++); // for a repeated action, the last time
            to.writeString(name);
        }
        to.writeEndArray();
        to.writeFieldName("times_ns");
        to.writeArray(times, 0, TIMES.size() * count);
    }

    private static void copyGaps(JsonParser from, JsonGenerator to, Map<String, Integer> places) throws IOException {
        Parts parts = new Parts();
        to.writeArrayFieldStart("gaps");
        while (from.nextToken() == JsonToken.START_OBJECT) {
            int place = AFTER_ALL;
            boolean inside = false;
            long start = 0;
            long nanos = 0;
            while (from.nextToken() == JsonToken.FIELD_NAME) {
                String field = from.currentName();
                JsonToken value = from.nextToken();
                switch (field) {
                    case "action" -> place = value == JsonToken.VALUE_STRING ? places.get(from.getText()) : AFTER_ALL;
                    case "inside" -> inside = from.getBooleanValue();
                    case "start_ns" -> start = from.getLongValue();
                    case "ns" -> nanos = from.getLongValue();
                    case "parts" -> parts.read(from);
                    default -> from.skipChildren();
                }
            }
            to.writeStartArray();
            to.writeNumber(place);
            to.writeNumber(inside ? 1 : 0);
            to.writeNumber(start);
            to.writeNumber(nanos);
            parts.write(to);
            to.writeEndArray();
        }
        to.writeEndArray();
    }
}
