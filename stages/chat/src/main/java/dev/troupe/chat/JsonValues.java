package dev.troupe.chat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.troupe.chat.value.Dict;
import dev.troupe.chat.value.None;
import java.util.ArrayList;
import java.util.List;

/** JSON as the values of a template. */
final class JsonValues {
    private JsonValues() {
    }

    static Object of(JsonNode node) {
        return switch (node.getNodeType()) {
            case OBJECT -> {
                Dict dict = new Dict();
                node.properties().forEach(member -> dict.put(member.getKey(), of(member.getValue())));
                yield dict;
            }
            case ARRAY -> {
                List<Object> list = new ArrayList<>(node.size());
                node.forEach(element -> list.add(of(element)));
                yield list;
            }
            case STRING -> node.textValue();
            case BOOLEAN -> node.booleanValue();
            case NUMBER -> node.isIntegralNumber() ? node.bigIntegerValue() : (Object) node.doubleValue();
            case NULL, MISSING, BINARY, POJO -> None.NONE;
        };
    }
}
