package dev.troupe.tokenizer.file;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * A part of a JSON file, with refusals that name file and place. Immutable.
 *
 * @param path the place, such as {@code model.merges[3]}; empty for the whole
 * @param node the content; missing if there is none
 */
public record FilePart(Path file, String path, JsonNode node) {
    /** NaN and infinity are numbers, as in Python's JSON. */
    private static final JsonMapper JSON = JsonMapper.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .build();
    private static final int SHOWN = 60;
    /** Far above any published id; a table of all of them must fit in memory. */
    private static final int LARGEST_ID = (1 << 24) - 1;

    /**
     * Reads a file.
     *
     * @throws TokenizerException if it cannot be read, or is no JSON object; with the line
     */
    public static FilePart read(Path file) {
        try {
            FilePart whole = new FilePart(file, "", JSON.readTree(BoundedFile.bytes(file)));
            if (!whole.node.isObject()) {
                throw new TokenizerException(file + " must be a JSON object, but found " + whole.shown());
            }
            return whole;
        } catch (JsonProcessingException malformed) {
            throw new TokenizerException(file + " is no JSON: " + JsonDefect.of(malformed), malformed);
        } catch (NoSuchFileException absent) {
            throw new TokenizerException("there is no file " + file, absent);
        } catch (IOException failure) {
            throw new TokenizerException("cannot read " + file + ": " + FileReason.of(failure), failure);
        }
    }

    /** Returns the part of a name; absent if there is none. */
    public FilePart at(String name) {
        return new FilePart(file, path.isEmpty() ? name : path + "." + name,
                node.isObject() ? orMissing(node.get(name)) : MissingNode.getInstance());
    }

    public FilePart at(int index) {
        return new FilePart(file, path + "[" + index + "]", node.get(index));
    }

    private static JsonNode orMissing(JsonNode node) {
        return node == null ? MissingNode.getInstance() : node;
    }

    /** Returns whether there is nothing, or null. */
    public boolean isAbsent() {
        return node.isMissingNode() || node.isNull();
    }

    public boolean isList() {
        return node.isArray();
    }

    public boolean isText() {
        return node.isTextual();
    }

    public boolean isEmptyText() {
        return node.isTextual() && node.textValue().isEmpty();
    }

    public boolean isZero() {
        return node.isNumber() && node.doubleValue() == 0;
    }

    /** Returns the number of elements of a list, or of members of an object. */
    public int size() {
        if (!node.isContainerNode()) {
            throw refusal("must be a list or an object, but found " + shown());
        }
        return node.size();
    }

    /** Returns the elements of a list; none if it is absent. */
    public List<FilePart> elements() {
        if (isAbsent()) {
            return List.of();
        }
        if (!node.isArray()) {
            throw refusal("must be a list, but found " + shown());
        }
        return IntStream.range(0, node.size()).mapToObj(this::at).toList();
    }

    public Map<String, FilePart> members() {
        if (!node.isObject()) {
            throw refusal("must be an object, but found " + shown());
        }
        Map<String, FilePart> members = LinkedHashMap.newLinkedHashMap(node.size());
        node.properties().forEach(entry -> members.put(entry.getKey(),
                new FilePart(file, path + "." + entry.getKey(), entry.getValue())));
        return members;
    }

    /** Returns a text, which must be present. */
    public String text() {
        if (!node.isTextual()) {
            throw refusal("must be a text, but found " + shown());
        }
        return node.textValue();
    }

    /** Returns a member that is true or false; {@code otherwise} if it is absent. */
    public boolean flag(String name, boolean otherwise) {
        FilePart part = at(name);
        if (!part.isAbsent() && !part.node.isBoolean()) {
            throw part.refusal("must be true or false, but found " + part.shown());
        }
        return part.isAbsent() ? otherwise : part.node.booleanValue();
    }

    public int id() {
        if (!node.isIntegralNumber() || !node.canConvertToInt() || node.intValue() < 0
                || node.intValue() > LARGEST_ID) {
            throw refusal("must be a token's id, a whole number from 0 to 16777215, but found " + shown());
        }
        return node.intValue();
    }

    public String type() {
        return at("type").text();
    }

    /** Refuses a {@code type} that is none of these. */
    public void requireType(String... known) {
        FilePart type = at("type");
        if (type.isAbsent() || !List.of(known).contains(type.text())) {
            throw type.refusal("must be " + String.join(" or ", known) + ", which is all that is supported, but found "
                    + type.shown());
        }
    }

    /** Returns the content, shortened. */
    public String shown() {
        if (node.isMissingNode()) {
            return "nothing";
        }
        String text = node.toString();
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "...";
    }

    /** Returns the defect of this part, in a sentence. */
    public TokenizerException refusal(String wrong) {
        return new TokenizerException(file + ": " + path + " " + wrong);
    }
}
