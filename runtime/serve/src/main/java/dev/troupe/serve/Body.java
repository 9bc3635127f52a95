package dev.troupe.serve;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.tokenizer.file.JsonDefect;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.Predicate;

/** The body of a request: a JSON object with checked members. A member that is null counts as absent. */
record Body(ObjectNode object) {
    private static final JsonMapper JSON = JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    /**
     * Parses a body.
     *
     * @throws ApiException if it is no JSON object
     */
    static Body parse(byte[] bytes) {
        try {
            JsonNode node = JSON.readTree(bytes);
            if (node instanceof ObjectNode object) {
                return new Body(object);
            }
            throw ApiException.wrong(null, "the body must be a JSON object, but is another JSON value");
        } catch (JsonProcessingException malformed) {
            throw ApiException.wrong(null,
                    "the body must be a JSON object, but is no JSON: " + JsonDefect.wordsOf(malformed));
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible); // the bytes are in memory
        }
    }

    /** Returns a member; null if it is absent or null. */
    JsonNode get(String name) {
        JsonNode member = object.get(name);
        return member == null || member.isNull() ? null : member;
    }

    /** Returns a member of an object in this one; null if either is absent. */
    JsonNode get(String object, String name) {
        JsonNode member = typed(object, JsonNode::isObject, "an object");
        return member == null || member.path(name).isNull() || member.path(name).isMissingNode()
                ? null
                : member.get(name);
    }

    double number(String name, double otherwise) {
        JsonNode member = typed(name, JsonNode::isNumber, "a number");
        return member == null ? otherwise : member.doubleValue();
    }

    OptionalLong whole(String name) {
        JsonNode member = typed(name, node -> node.isIntegralNumber() && node.canConvertToLong(), "a whole number");
        return member == null ? OptionalLong.empty() : OptionalLong.of(member.longValue());
    }

    OptionalInt whole(String name, int least, int most) {
        JsonNode member = typed(name,
                node -> node.isIntegralNumber() && node.canConvertToInt() && node.intValue() >= least
                        && node.intValue() <= most,
                "a whole number from " + least + " to " + most);
        return member == null ? OptionalInt.empty() : OptionalInt.of(member.intValue());
    }

    boolean flag(String name) {
        JsonNode member = typed(name, JsonNode::isBoolean, "true or false");
        return member != null && member.booleanValue();
    }

    String text(String name) {
        JsonNode member = typed(name, JsonNode::isTextual, "a string");
        return member == null ? null : member.textValue();
    }

    /** Returns the elements of a list, or the one value of a member; empty if it is absent. */
    <T> List<T> oneOrMore(String name, Predicate<JsonNode> isElement, String expected, Function<JsonNode, T> read) {
        JsonNode member = typed(name, node -> isElement.test(node) || node.isArray(), expected + ", or a list of such");
        List<T> elements = new ArrayList<>();
        if (member == null) {
            return elements;
        }
        if (isElement.test(member)) {
            return List.of(read.apply(member));
        }
        for (JsonNode element : member) {
            if (!isElement.test(element)) {
                throw ApiException.wrong(name, name + " must be " + expected + ", or a list of such, but element "
                        + elements.size() + " is " + shown(element));
            }
            elements.add(read.apply(element));
        }
        return elements;
    }

    /** Refuses a member that would change the answer in a way that is not computed here. */
    void refuse(String name, Predicate<JsonNode> isHarmless, String instead) {
        JsonNode member = get(name);
        if (member != null && !isHarmless.test(member)) {
            throw ApiException.wrong(name, name + " is not supported, but is " + shown(member) + ": " + instead);
        }
    }

    private JsonNode typed(String name, Predicate<JsonNode> isRight, String expected) {
        JsonNode member = get(name);
        if (member != null && !isRight.test(member)) {
            throw ApiException.wrong(name, name + " must be " + expected + ", but is " + shown(member));
        }
        return member;
    }

    private static String shown(JsonNode node) {
        String text = node.toString();
        return text.length() <= 60 ? text : text.substring(0, 60) + "...";
    }
}
