package dev.troupe.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.chat.render.Template;
import dev.troupe.chat.value.None;
import dev.troupe.chat.value.TemplateException;
import java.io.IOException;
import java.io.InputStream;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Small templates of one feature each, with the results of transformers; generate-features.py has written them. */
@Tag("plan")
class JinjaFeaturesTest {
    /** The only templates that are refused here and rendered there. */
    private static final Set<String> NOT_BUILT = Set.of("{{ lipsum() is string }}",
            "{{ (7.25 ** 11) is number }}",
            "{% autoescape false %}{{ '<' }}{% endautoescape %}", "{% block a %}x{% endblock %}");

    @Test
    void shouldRenderEachFeatureAsTransformersDoesOrRefuseIt() throws IOException {
        JsonNode features;
        try (InputStream file = JinjaFeaturesTest.class.getResourceAsStream("/jinja/features.json")) {
            features = new JsonMapper().readTree(file);
        }
        Map<String, Object> chat = new LinkedHashMap<>(
                Map.of("tools", None.NONE, "documents", None.NONE, "add_generation_prompt", false));
        features.get(0).get("chat").properties()
                .forEach(member -> chat.put(member.getKey(), JsonValues.of(member.getValue())));
        List<String> wrong = new ArrayList<>();
        for (int i = 1; i < features.size(); i++) {
            String template = features.get(i).get("template").textValue();
            String expected = features.get(i).path("text").textValue();
            String text = rendered(template, chat);
            boolean isNotBuilt = NOT_BUILT.contains(template) && text == null;
            if (expected == null ? text != null : !expected.equals(text) && !isNotBuilt) {
                wrong.add("%s: expected %s, found %s".formatted(template, expected, text));
            }
        }
        assertTrue(features.size() > 200);
        assertEquals(List.of(), wrong);
    }

    /** Returns the text, or null if the template is refused; any other exception is an error. */
    private static String rendered(String template, Map<String, Object> chat) {
        try {
            return Template.of(template).text(chat, LocalDateTime.of(2026, 11, 27, 9, 5), UnaryOperator.identity());
        } catch (TemplateException refused) {
            assertTrue(refused.getMessage().length() < 500 && refused.line() > 0, refused.getMessage());
            return null;
        }
    }
}
