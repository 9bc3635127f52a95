package dev.troupe.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import com.hubspot.jinjava.Jinjava;
import com.hubspot.jinjava.JinjavaConfig;
import com.hubspot.jinjava.interpret.JinjavaInterpreter;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class ParsedTemplateTest {
    private static final String TEMPLATE = "{% for word in words %}{{ word }}{{ loop.last }} {% endfor %}";

    private final Jinjava jinjava = new Jinjava(
            JinjavaConfig.newBuilder().withInterperterFactory(new ParsedTemplate()).build());

    private JinjavaInterpreter interpreter() {
        return jinjava.getGlobalConfig().getInterpreterFactory().newInstance(jinjava, jinjava.getGlobalContextCopy(),
                jinjava.getGlobalConfig());
    }

    @Test
    void shouldParseATemplateOnceForEveryText() {
        assertSame(interpreter().parse(TEMPLATE), interpreter().parse(TEMPLATE));
        assertNotSame(interpreter().parse(TEMPLATE), interpreter().parse(TEMPLATE + "!"));
    }

    @Test
    void shouldMakeEachTextOfItsOwnValues() {
        List<String> expected = IntStream.range(0, 200).mapToObj(i -> i + "false " + (i + 1) + "true ").toList();
        assertEquals(expected, IntStream.range(0, 200).parallel()
                .mapToObj(i -> jinjava.render(TEMPLATE, Map.of("words", List.of(i, i + 1)))).toList());
    }

    @Test
    void shouldSayTheErrorOfATemplateForEveryText() {
        for (int text = 0; text < 2; text++) {
            assertFalse(jinjava.renderForResult("{% for %}", Map.of()).getErrors().isEmpty());
            assertFalse(jinjava.renderForResult("{% if a %}", Map.of()).getErrors().isEmpty());
        }
    }
}
