package dev.troupe.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.tokenizer.file.TokenizerException;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("plan")
@Timeout(60)
class ChatTemplateTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static final JsonNode HELLO = chat("[{\"role\": \"user\", \"content\": \"Hello {{ 1 + 1 }} <b>\"}]");

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"llama3", "qwen", "smollm"})
    void shouldMakeTheTextOfEveryChat(String form) throws IOException, URISyntaxException {
        Path tokenizer = Path.of(ChatTemplateTest.class.getResource("/tokenizers/" + form).toURI());
        ChatTemplate template = ChatTemplate.of(tokenizer);
        JsonNode chats = JSON.readTree(tokenizer.resolve("expected.json").toFile()).get("chats");
        assertEquals(4, chats.size());
        for (JsonNode chat : chats) {
            ObjectNode variables = JSON.createObjectNode();
            variables.set("messages", chat.get("messages"));
            variables.set("add_generation_prompt", chat.get("add_generation_prompt"));
            assertEquals(chat.get("text").textValue(), template.render(variables));
        }
    }

    /** Expressions and statements of published templates, with Jinja's results. */
    @ParameterizedTest
    @CsvSource(delimiter = '!', quoteCharacter = '`', value = {
            "{{ messages[0].content }}!Hello {{ 1 + 1 }} <b>",
            "{{ messages[-1]['role'] }}!user",
            "{{ 'a' + ' b ' | trim + 'c' }}!abc",
            "{{ bos_token }}{{ eos_token }}!<s></s>",
            "{% for m in messages %}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}{% endfor %}!0TrueTrue",
            "{% set n = namespace(x=1) %}{% for i in range(3) %}{% set n.x = n.x + i %}{% endfor %}{{ n.x }}!4",
            "{{ '<think>a</think>\\n\\nb'.split('</think>')[-1].lstrip('\\n') }}!b",
            "{{ ('ab' ~ 'cd').startswith('ab') }} {{ 'x'.strip() in 'xyz' }}!True True",
            "{% if tools is defined and tools %}t{% else %}n{% endif %}!n",
            "{% if tools is not none %}t{% else %}n{% endif %}!n",
            "{% if messages[0].content is string and messages is not string %}s{% endif %}!s",
            "{{ {'a': [1, 'ü'], 'b': none} | tojson }}!{\"a\": [1, \"ü\"], \"b\": null}",
            "{% for k, v in {'a': 1}.items() %}{{ k }}={{ v }}{% endfor %}!a=1",
            "{% for m in messages[::-1] %}{{ m.role }}{% endfor %}!user",
            "[::-1]{{ '[::-1]' }}{% for i in [1, 2, 3][::-1] %}{{ i }}{% endfor %}![::-1][::-1]321",
            "{% for m in messages[1:] %}x{% endfor %}{{ messages | length }}!1",
            "{{ {'a': {'b': 'x'}}['a'].b | default('y', true) }}!x",
            "{% set n = namespace(a=4 - 1, b=[1, 2] | length + 1, c=('p' == 'q')) %}{{ n.a }}{{ n.b }}{{ n.c }}!33False",
            "{% generation %}{{ 'g' }}{% endgeneration %}!g",
            "{% macro f(x) %}<{{ x }}>{% endmacro %}{{ f('y') }}!<y>",
            "{{ 'yes' if add_generation_prompt else 'no' }}!no",
            "{{ ['a', 'b'] | join(', ') }}{{ 'Q' | lower }}!a, bq"})
    void shouldRenderTheConstructsOfPublishedTemplates(String template, String expected) throws IOException {
        assertEquals(expected, template(template).render(HELLO));
    }

    /** The statements of Qwen 3's template: a walk backwards, a namespace, texts cut by their marks. */
    @Test
    void shouldRenderATemplateThatThinks() throws IOException {
        String template = """
                {%- if messages[0].role == 'system' %}
                    {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
                {%- endif %}
                {%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
                {%- for message in messages[::-1] %}
                    {%- set index = (messages|length - 1) - loop.index0 %}
                    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
                        {%- set ns.multi_step_tool = false %}
                        {%- set ns.last_query_index = index %}
                    {%- endif %}
                {%- endfor %}
                {%- for message in messages %}
                    {%- if message.content is string %}
                        {%- set content = message.content %}
                    {%- else %}
                        {%- set content = '' %}
                    {%- endif %}
                    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
                        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
                    {%- elif message.role == "assistant" %}
                        {%- set reasoning_content = '' %}
                        {%- if message.reasoning_content is string %}
                            {%- set reasoning_content = message.reasoning_content %}
                        {%- elif '</think>' in content %}
                            {%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
                            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
                        {%- endif %}
                        {%- if loop.index0 > ns.last_query_index %}
                            {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
                        {%- else %}
                            {{- '<|im_start|>' + message.role + '\\n' + content }}
                        {%- endif %}
                        {%- if message.tool_calls %}
                            {%- for tool_call in message.tool_calls %}
                                {{- '\\n<tool_call>\\n{"name": "' + tool_call.function.name + '", "arguments": ' }}
                                {{- tool_call.function.arguments | tojson }}
                                {{- '}\\n</tool_call>' }}
                            {%- endfor %}
                        {%- endif %}
                        {{- '<|im_end|>\\n' }}
                    {%- endif %}
                {%- endfor %}
                {%- if add_generation_prompt %}
                    {{- '<|im_start|>assistant\\n' }}
                    {%- if enable_thinking is defined and enable_thinking is false %}
                        {{- '<think>\\n\\n</think>\\n\\n' }}
                    {%- endif %}
                {%- endif %}
                """;
        ObjectNode chat = (ObjectNode) chat(
                """
                        [{"role": "system", "content": "Be terse."}, {"role": "user", "content": "Add."},
                         {"role": "assistant", "content": "<think>\\nadd\\n</think>\\n\\n4"}, {"role": "user", "content": "Now?"},
                         {"role": "assistant", "content": "<think>\\nclock\\n</think>\\n\\nNoon",
                          "tool_calls": [{"function": {"name": "now", "arguments": {"zone": "UTC", "n": 1}}}]}]""");
        chat.put("add_generation_prompt", true).put("enable_thinking", false);
        assertEquals("""
                <|im_start|>system
                Be terse.<|im_end|>
                <|im_start|>user
                Add.<|im_end|>
                <|im_start|>assistant
                4<|im_end|>
                <|im_start|>user
                Now?<|im_end|>
                <|im_start|>assistant
                <think>
                clock
                </think>

                Noon
                <tool_call>
                {"name": "now", "arguments": {"zone": "UTC", "n": 1}}
                </tool_call><|im_end|>
                <|im_start|>assistant
                <think>

                </think>

                """, template(template).render(chat));
    }

    /** The end of a line after a statement is dropped, and so is white space before it, in the last line too. */
    @Test
    void shouldTreatWhiteSpaceAsHuggingFaceDoes() throws IOException {
        assertEquals("a\nb\n  c", template("a\n  {% if true %}\nb\n  {% endif %}\n  c\n").render(HELLO));
        assertEquals("ac", template("a\n{%- if true -%}\n  c{% endif %}").render(HELLO));
        assertEquals("x\n", template("{{ 'x\\n' }}").render(HELLO));
        assertEquals("a b \n cd",
                template("a {% if true %}b {{ '' }}{% endif %}\n\n c{# #}\n\t{# #}d").render(HELLO));
        assertEquals("x y b ", template("x {{ 'y' }} {% if true %}b {% endif %}").render(HELLO));
        assertEquals("a\n  1", template("a\n  {# x #}\n  {{ 1 }}").render(HELLO));
    }

    @Test
    void shouldPreferTheFileToTheSettingsAndTheDefaultOfSeveral() throws IOException {
        Files.writeString(directory.resolve("tokenizer_config.json"),
                "{\"chat_template\": [{\"name\": \"tool_use\", \"template\": \"t\"}, {\"name\": \"default\", \"template\": \"d\"}]}");
        assertEquals("d", ChatTemplate.of(directory).render(HELLO));
        Files.writeString(directory.resolve("chat_template.jinja"), "f");
        assertEquals("f", ChatTemplate.of(directory).render(HELLO));
    }

    /** No way leads from a template to a Java object, a class, a file or another template. */
    @ParameterizedTest
    @ValueSource(strings = {"{{ 'a'.getClass() }}", "{{ 'a'.class }}", "{{ messages.getClass().forName('x') }}",
            "{{ messages.class }}", "{{ ____int3rpr3t3r____.getConfig() }}", "{{ ____int3rpr3t3r____.config }}",
            "{{ ''.bytes }}", "{{ messages[0].getClass() }}", "{{ loop.class }}", "{{ range.class }}",
            "{% include 'x' %}", "{% import 'x' as y %}", "{% extends 'x' %}", "{{ '{{ 1 + 1 }}' | render }}",
            "{{ messages.stream() }}", "{{ messages[0].clear() }}"})
    void shouldReachNoJavaObject(String template) throws IOException {
        try {
            ChatTemplate untrusted = template(template);
            assertEquals("", untrusted.render(HELLO), template);
        } catch (TokenizerException refused) {
            assertTrue(refused.getMessage().startsWith(directory.toString()), refused.getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"{% for a in range(1000) %}{% for b in range(1000) %}{% for c in range(1000) %}"
            + "{% set x = 1 %}{% endfor %}{% endfor %}{% endfor %}",
            "{% macro f(x) %}{{ f(x) }}{{ f(x) }}{% endmacro %}{{ f(1) }}",
            "{% for a in range(1000) %}{% for b in range(1000) %}a piece of text, a million times{% endfor %}{% endfor %}",
            "{% set n = namespace(x='aaaaaaaaaaaaaaaa') %}{% for i in range(100) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
            "{% set n = namespace(x=[1, 2]) %}{% for i in range(40) %}{% set n.x = n.x + n.x %}{% endfor %}{{ n.x | length }}",
            "{% set n = namespace(x=[1, 2]) %}{% for i in range(40) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x | tojson }}",
            "{% set n = namespace(x=[1, 2]) %}{% for i in range(40) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}",
            "{% set n = namespace(x='aaaa') %}{% for i in range(20) %}{% set n.x = n.x | replace('a', 'aaaaaaaa') %}{% endfor %}",
            "{% set n = namespace(x='aaaa') %}{% for i in range(20) %}{% set n.x = n.x.replace('a', 'aaaaaaaa') %}{% endfor %}",
            "{{ 'a' | center(1000000000) }}", "{{ '%1000000000d' | format(1) }}",
            "{{ ['a'] | map('center', 1000000000) | join }}",
            "{{ 10 ** 10 ** 10 ** 10 }}{{ 'a' * 1000000000 }}{{ undefined.x }}{{ 1 / 0 }}"})
    void shouldEndATemplateThatTakesTooLongOrMakesTooMuch(String template) throws IOException {
        Files.writeString(directory.resolve("chat_template.jinja"), template);
        try {
            ChatTemplate untrusted = ChatTemplate.of(directory, Duration.ofSeconds(3));
            assertTrue(untrusted.render(HELLO).length() < 1 << 24);
        } catch (TokenizerException refused) {
            assertTrue(refused.getMessage().startsWith(directory.resolve("chat_template.jinja").toString()),
                    refused.getMessage());
        }
    }

    @Test
    void shouldReportWhatIsWrongAndWhere() throws IOException {
        assertEquals(directory + " has no chat template: no file chat_template.jinja, and no chat_template in"
                + " tokenizer_config.json",
                assertThrows(TokenizerException.class, () -> ChatTemplate.of(directory)).getMessage());
        String refused = refusal("a\n{{ raise_exception('only users may speak') }}");
        assertTrue(refused.startsWith(directory.resolve("chat_template.jinja") + ": "), refused);
        assertTrue(refused.contains("only users may speak"), refused);
        assertEquals(directory.resolve("chat_template.jinja") + ": line 2 of the chat template: the filter"
                + " \"nosuchfilter\" is not known",
                refusal("{# {{ 'a' | other }} #}\n{{ 'a|b' | nosuchfilter }}"));
        for (String wrong : List.of("{% for %}", "{{ 'a' is nosuchtest }}", "{{ 'a' is not nosuchtest }}",
                "{{ nosuch('a') }}", "{% nosuch %}",
                "{{ 'a'.nosuch() }}", "{% if true %}")) {
            assertTrue(refusal(wrong).startsWith(directory.resolve("chat_template.jinja") + ": "), wrong);
        }
    }

    /** Nobody knows the marks before, so that a chat with marks of its own changes nothing. */
    @Test
    void shouldReturnThePartsThatATemplateMarks() throws IOException {
        ChatTemplate marking = template("a {% generation %}b{% generation %}c{% endgeneration %}{% endgeneration %}"
                + "{{ messages[0].content }}{%- generation -%} d {%- endgeneration %}");
        JsonNode spoof = chat("[{\"role\": \"user\", \"content\": \"\\ufdd01\\ufdd0 x\"}]");
        MarkedText text = marking.renderMarked(spoof);
        assertTrue(marking.marksAnswers());
        assertEquals("a bc\ufdd01\ufdd0 xd", text.text());
        assertEquals(List.of(new MarkedText.Part(2, 4), new MarkedText.Part(9, 10)), text.answers());
        assertFalse(template("{{ 'generation' }}").marksAnswers());
        ChatTemplate changing = template("{% set x %}{% generation %} a {% endgeneration %}{% endset %}{{ x | trim }}");
        assertTrue(assertThrows(TokenizerException.class, () -> changing.renderMarked(HELLO)).getMessage()
                .contains("changes the text that it marks"));
    }

    private String refusal(String template) {
        return assertThrows(TokenizerException.class, () -> template(template).render(HELLO), template).getMessage();
    }

    private ChatTemplate template(String source) throws IOException {
        Files.writeString(directory.resolve("tokenizer_config.json"),
                "{\"bos_token\": \"<s>\", \"eos_token\": {\"content\": \"</s>\"}}");
        Files.writeString(directory.resolve("chat_template.jinja"), source);
        return ChatTemplate.of(directory);
    }

    private static JsonNode chat(String messages) {
        try {
            return JSON.createObjectNode().set("messages", JSON.readTree(messages));
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
