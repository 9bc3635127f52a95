package dev.troupe.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.tokenizer.file.TokenizerException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Templates that would take all time, memory or stack, or try to escape: each ends with one short sentence. */
@Tag("plan")
@Timeout(120)
class HostileTemplateTest {
    private static final JsonNode CHAT = new JsonMapper().createObjectNode().set("messages",
            new JsonMapper().createArrayNode().add(new JsonMapper().createObjectNode().put("role", "user")));

    @TempDir
    private Path directory;
    private Duration longest = Duration.ofSeconds(60);

    @Test
    void shouldRefuseATemplateThatIsNoTextFile() throws Exception {
        Path template = directory.resolve("chat_template.jinja");
        Files.write(template, new byte[]{'h', (byte) 0xe9});
        assertEquals(template + " is not UTF-8 text: save it as such",
                assertThrows(TokenizerException.class, () -> ChatTemplate.contents(directory)).getMessage());
        Files.delete(template);
        assertEquals(0, new ProcessBuilder("mkfifo", template.toString()).start().waitFor());
        assertEquals("cannot read " + template + ": it is a device or a pipe; save it as a file",
                assertThrows(TokenizerException.class, () -> ChatTemplate.contents(directory)).getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"{{ range(100001) }}", "{{ range(10 ** 30) }}", "{{ 'a' * 10 ** 9 }}",
            "{{ 'a' * 10 ** 30 }}",
            "{{ [0] * 10 ** 9 }}", "{{ 10 ** (10 ** 10) }}", "{{ 2 ** (10 ** 6) }}", "{{ 10 ** 5000 }}",
            "{{ ('%' ~ 10 ** 9 ~ 'd') % 1 }}", "{{ '%1000000000d' % 1 }}", "{{ '{:1000000000}'.format(1) }}",
            "{{ '{:.999999999f}'.format(1.0) }}", "{{ '%.999999999f' % 1.0 }}", "{{ 'a' | center(10 ** 9) }}",
            "{{ 'a'.ljust(10 ** 9) }}", "{{ '7'.zfill(10 ** 9) }}", "{{ '\\t'.expandtabs(10 ** 9) }}",
            "{{ 'a\\nb' | indent(10 ** 9) }}", "{{ [1] | batch(10 ** 9, 0) | list }}",
            "{{ [1] | slice(10 ** 9) | list }}",
            "{{ [[]] | tojson(indent=10 ** 9) }}", "{{ messages | tojson(indent=10 ** 7) }}",
            "{{ 1.5 | round(10 ** 30) | nosuch }}", "{{ ('aaaa' * 1000000).replace('a', 'aaaaaaaa') }}",
            "{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}",
            "{% macro f(x) %}{{ f(x) }}{{ f(x) }}{% endmacro %}{{ f(1) }}",
            "{% macro f() %}{{ caller() }}{{ f(caller=caller) }}{% endmacro %}{% call f() %}{% endcall %}",
            "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
            "{% set n = namespace() %}{% set n.x = n %}{{ n }}",
            "{% set n = namespace() %}{% set n.x = [n] %}{{ n.x }}",
            "{% set n = namespace(x=[]) %}{% for i in range(5000) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x }}",
            "{% set n = namespace(x=[]) %}{% for i in range(5000) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x | tojson }}",
            "{% set n = namespace(x=[], y=[]) %}{% for i in range(5000) %}{% set n.x = [n.x] %}{% set n.y = [n.y] %}"
                    + "{% endfor %}{{ n.x == n.y }}",
            "{% set n = namespace(x=[]) %}{% for i in range(5000) %}{% set n.x = (n.x,) %}{% endfor %}{{ {n.x: 1} }}",
            "{% set n = namespace(x=[], y=[]) %}{% for i in range(40) %}{% set n.x = [n.x, n.x] %}"
                    + "{% set n.y = [n.y, n.y] %}{% endfor %}{{ n.x == n.y }}",
            "{% set n = namespace(x=[1, 2]) %}{% for i in range(40) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}",
            "{% set n = namespace(x='ab') %}{% for i in range(40) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
            "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
            "{% for a in range(100000) %}{% for b in range(1000) %}a piece of text{% endfor %}{% endfor %}",
            "{{ range(100000) | map('string') | map('center', 1000) | list }}",
            "{{ ''.__class__.__mro__ }}", "{{ ().__class__.__bases__[0].__subclasses__() }}",
            "{{ '{0.__class__.__mro__}'.format('') }}", "{{ (''|attr('__class__')).mro() }}",
            "{{ messages.append(1) }}",
            "{{ messages[0].update(a=1) }}", "{{ messages[0].getClass() }}", "{{ range.call.x }}",
            "{{ self.__init__.x }}"})
    void shouldEndWithASentence(String template) throws IOException {
        longest = Duration.ofSeconds(2);
        String refusal = refusal(template);
        assertTrue(refusal.length() < 500 + directory.toString().length(), refusal);
        assertTrue(refusal.contains("the chat template"), refusal);
    }

    @Test
    void shouldRefuseTemplatesThatAreNestedTooDeeply() throws IOException {
        for (String[] brackets : new String[][]{{"(", ")"}, {"[", "]"}, {"{1: ", "}"}, {"f(", ")"}, {"a[", "]"},
                {"-", ""},
                {"not ", ""}, {"1 if 1 else ", ""}, {"a|default(", ")"}}) {
            String inside = brackets[0].repeat(20_000) + "1" + brackets[1].repeat(20_000);
            assertTrue(refusal("{{ " + inside + " }}").contains("nested more than 200 deep"), brackets[0]);
        }
        assertTrue(refusal("{% if true %}".repeat(20_000)).contains("nested more than 200 deep"));
        assertTrue(refusal("{% for a in [1] %}".repeat(20_000)).contains("nested more than 200 deep"));
    }

    /** Chains of operators may have any length: their tree is flat. */
    @Test
    void shouldTakeLongChains() throws IOException {
        assertEquals("20001", rendered("{{ 1" + " + 1".repeat(20_000) + " }}"));
        assertEquals("a", rendered("{{ 'a'" + "|lower".repeat(20_000) + " }}"));
        assertEquals("False", rendered("{{ true" + " and true".repeat(20_000) + " and false }}"));
        assertEquals("c", rendered("{% if false %}" + "{% elif false %}".repeat(20_000) + "{% else %}c{% endif %}"));
    }

    /** The sentence names the line and the reason, and never repeats a template's output. */
    @Test
    void shouldReportWhereAndWhyInAFewWords() throws IOException {
        assertEquals(directory.resolve("chat_template.jinja")
                + ": line 3 of the chat template: cannot compute a value of type"
                + " str + None", refusal("a\n{% set x = none %}\n{{ 'a' + x }}"));
        assertEquals(
                directory.resolve("chat_template.jinja") + ": line 2 of the chat template: expected }}, found \"2\"",
                refusal("\n{{ 1 2 }}"));
        assertTrue(refusal("{{ x." + "a".repeat(100_000) + ".b }}").length() < 1000);
        assertTrue(refusal("{{ raise_exception('a' * 100000) }}").length() < 1000);
        assertTrue(refusal("{{ 'a'|" + "a".repeat(100_000) + " }}").length() < 1000);
        assertTrue(refusal("{{ 1+1" + "+1".repeat(100_000) + "+ }}").length() < 1000);
        assertTrue(refusal("{{ " + "9".repeat(100_000) + " }}").length() < 1000);
    }

    private String rendered(String template) throws IOException {
        Files.writeString(directory.resolve("chat_template.jinja"), template);
        return ChatTemplate.of(directory, longest).render(CHAT);
    }

    private String refusal(String template) {
        return assertThrows(TokenizerException.class, () -> rendered(template), template).getMessage();
    }
}
