package dev.troupe.rows;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.data.DataException;
import dev.troupe.tokenizer.Tokenizer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("plan")
@Timeout(60)
class ChatsTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static final DocumentOrigin ORIGIN = new DocumentOrigin(Path.of("chats.jsonl"), 0, 3);
    private static final String TWO_TURNS = """
            [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"},
             {"role": "user", "content": "Bye"}, {"role": "assistant", "content": "See you"}]""";
    private static final String CHATML = "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}"
            + "{% if m.role == 'assistant' %}{% generation %}{{ m.content + '<|im_end|>' }}{% endgeneration %}{{ '\n' }}"
            + "{% else %}{{ m.content + '<|im_end|>\n' }}{% endif %}{% endfor %}";

    @TempDir
    private Path folder;

    /**
     * The third published chat of each form, with ids made by Hugging Face: of its messages of system, user, assistant and
     * user, the assistant's words are "Hello" and a face of three bytes' tokens, and then the token that ends its turn.
     */
    @ParameterizedTest
    @CsvSource({"llama3, 433 279 78 686 246 222 889", "qwen, 432 279 78 684 246 222 813",
            "smollm, 425 277 78 673 246 222 813"})
    void shouldCountTheTextOfTheAssistant(String form, String said) throws IOException {
        JsonNode chat = JSON.readTree(Folder.resource("/tokenizers/" + form + "/expected.json").toFile()).get("chats")
                .get(2);
        Document document = documents(Folder.tokenizer(form)).ofChat(ORIGIN, chat(chat.get("messages").toString()));
        assertArrayEquals(JSON.convertValue(chat.get("ids"), int[].class), document.ids());
        assertEquals(said, counted(document));
        assertEquals(7, document.countedTargets());
    }

    /** The line feed after the end of a turn belongs to the template, and so does the beginning of the next. */
    @Test
    void shouldCountEveryTurnOfTheAssistant() {
        Tokenizer qwen = Folder.tokenizer("qwen");
        Document document = documents(qwen).ofChat(ORIGIN, chat(TWO_TURNS));
        assertEquals("Hello<|im_end|>See you<|im_end|>", text(qwen, document));
    }

    @Test
    void shouldCountThePartsThatATemplateMarks() {
        Tokenizer marking = new Folder(folder).tokenizerWith(CHATML);
        assertEquals("Hello<|im_end|>See you<|im_end|>",
                text(marking, documents(marking).ofChat(ORIGIN, chat(TWO_TURNS))));
        Tokenizer sparing = new Folder(folder).tokenizerWith(CHATML.replace("+ '<|im_end|>' }}{% endgeneration %}",
                "}}{% endgeneration %}{{ '<|im_end|>' }}"));
        Document document = documents(sparing).ofChat(ORIGIN, chat(TWO_TURNS));
        assertEquals("HelloSee you", text(sparing, document));
        assertArrayEquals(documents(Folder.tokenizer("qwen")).ofChat(ORIGIN, chat(TWO_TURNS)).ids(), document.ids());
    }

    /** Published templates set a default for the generation prompt if it is missing; the header is no answer. */
    @Test
    void shouldCountNoHeaderIfATemplateHasADefaultForThePrompt() {
        Tokenizer chatml = new Folder(folder).tokenizerWith("{% if not add_generation_prompt is defined %}"
                + "{% set add_generation_prompt = false %}{% endif %}{% for m in messages %}<|im_start|>{{ m.role }}\n"
                + "{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}");
        assertEquals("Hello<|im_end|>See you<|im_end|>",
                text(chatml, documents(chatml).ofChat(ORIGIN, chat(TWO_TURNS))));
    }

    /** transformers refuses to add these to a text; they are never trained as the word null, or as Java's list. */
    @ParameterizedTest
    @ValueSource(strings = {"null", "[{\"type\": \"text\", \"text\": \"Hi\"}]"})
    void shouldRefuseAnAnswerThatIsNoText(String content) {
        Tokenizer chatml = new Folder(folder).tokenizerWith(
                "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}");
        ObjectNode chat = chat("[{\"role\": \"user\", \"content\": \"Hi\"}, {\"role\": \"assistant\", \"content\": "
                + content + "}]");
        String refusal = assertThrows(RuntimeException.class, () -> documents(chatml).ofChat(ORIGIN, chat))
                .getMessage();
        assertTrue(refusal.contains("cannot compute a value of type str + "), refusal);
    }

    /** A template with turns that end with a line feed alone: that is the token that ends them. */
    @Test
    void shouldCountTheWhiteSpaceThatEndsATurn() {
        Tokenizer plain = new Folder(folder)
                .tokenizerWith("{% for m in messages %}{{ m.role + ': ' + m.content + '\n' }}"
                        + "{% endfor %}{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}");
        assertEquals("Hello\nSee you\n", text(plain, documents(plain).ofChat(ORIGIN, chat(TWO_TURNS))));
    }

    @Test
    void shouldHandToolsToTheTemplate() {
        Tokenizer tools = new Folder(folder).tokenizerWith(
                "{% if tools %}{{ tools | length }}{% endif %}{% for m in messages %}{{ m.content }}{% endfor %}");
        ObjectNode chat = chat("[{\"role\": \"assistant\", \"content\": \"a\"}]");
        chat.putArray("tools").addObject().put("name", "now");
        assertEquals("1a", tools.decode(documents(tools).ofChat(ORIGIN, chat).ids()));
        chat.put("tools", "now");
        assertEquals("chats.jsonl: line 3: tools must be a list, but found \"now\"", refusal(tools, chat));
    }

    /** As Qwen 3 does, which leaves the thoughts of the assistant out of earlier answers. */
    @Test
    void shouldRefuseATemplateThatWritesEarlierAnswersDifferently() {
        Tokenizer thinking = new Folder(folder).tokenizerWith("{% for m in messages %}{{ m.role + ': ' }}"
                + "{% if loop.last and m.role == 'assistant' %}{{ '<think></think>' }}{% endif %}{{ m.content + '\n' }}"
                + "{% endfor %}{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}");
        assertEquals(
                "chats.jsonl: line 3: the chat template writes messages[1] or earlier ones differently if others"
                        + " follow, so the assistant's words cannot be found; mark them in the template with {% generation %}, or cut"
                        + " the chat after its last answer",
                refusal(thinking, chat(TWO_TURNS)));
        Document last = documents(thinking).ofChat(ORIGIN,
                chat("[{\"role\": \"user\", \"content\": \"Hi\"}, {\"role\": \"assistant\", \"content\": \"Hello\"}]"));
        assertEquals("<think></think>Hello\n", text(thinking, last));
    }

    @Test
    void shouldReportTheRefusalOfATemplate() {
        Tokenizer strict = new Folder(folder)
                .tokenizerWith("{% for m in messages %}{% if m.role not in ['user', 'assistant'] %}"
                        + "{{ raise_exception('unknown role ' + m.role) }}{% endif %}{% endfor %}");
        String said = refusal(strict, chat("[{\"role\": \"wizard\", \"content\": \"a\"}]"));
        assertTrue(said.startsWith("chats.jsonl: line 3: ") && said.endsWith("unknown role wizard"), said);
        Tokenizer greedy = new Folder(folder).tokenizerWith("{% set n = namespace(x=[1, 2]) %}{% for i in range(40) %}"
                + "{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}");
        said = refusal(greedy, chat(TWO_TURNS));
        assertTrue(said.startsWith("chats.jsonl: line 3: "), said);
        Tokenizer changing = new Folder(folder)
                .tokenizerWith("{% set x %}{% generation %} a {% endgeneration %}{% endset %}"
                        + "{{ x | trim }}");
        said = refusal(changing, chat(TWO_TURNS));
        assertTrue(said.startsWith("chats.jsonl: line 3: ") && said.contains("changes the text that it marks"), said);
        assertEquals("chats.jsonl: line 3 has messages, which need a chat template, but the tokenizer is bytes; set"
                + " data.tokenizer to a folder with a tokenizer.json and a chat template",
                refusal(Tokenizer.named("bytes"), chat(TWO_TURNS)));
        said = refusal(Folder.tokenizer("gpt2"), chat(TWO_TURNS));
        assertTrue(said.startsWith("chats.jsonl: line 3: ") && said.contains("has no chat template"), said);
    }

    @Tag("long")
    @Test
    void shouldEndATemplateThatTakesTooLong() {
        Tokenizer slow = new Folder(folder).tokenizerWith("{% for a in range(1000) %}{% for b in range(1000) %}"
                + "{% for c in range(1000) %}{% set x = 1 %}{% endfor %}{% endfor %}{% endfor %}");
        String said = refusal(slow, chat(TWO_TURNS));
        assertTrue(said.startsWith("chats.jsonl: line 3: ") && said.contains("the chat template takes"), said);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '!', quoteCharacter = '`', value = {
            "3!messages must be a list of at least one message, but found 3",
            "[]!messages must be a list of at least one message, but found []",
            "[3]!messages[0] must be an object with a role, a string, but found 3",
            "[{\"content\": \"a\"}]!messages[0] must be an object with a role, a string, but found {\"content\":\"a\"}",
            "[{\"role\": null}]!messages[0] must be an object with a role, a string, but found {\"role\":null}"})
    void shouldRefuseMessagesOfAnotherShape(String messages, String said) {
        assertEquals("chats.jsonl: line 3: " + said, refusal(Folder.tokenizer("qwen"), chat(messages)));
    }

    private static Documents documents(Tokenizer tokenizer) {
        return new Documents(tokenizer);
    }

    private static String refusal(Tokenizer tokenizer, ObjectNode chat) {
        return assertThrows(DataException.class, () -> documents(tokenizer).ofChat(ORIGIN, chat)).getMessage();
    }

    private static String counted(Document document) {
        return String.join(" ", Arrays.stream(countedIds(document)).mapToObj(Integer::toString).toList());
    }

    private static String text(Tokenizer tokenizer, Document document) {
        return tokenizer.decode(countedIds(document));
    }

    private static int[] countedIds(Document document) {
        return IntStream.range(0, document.length()).filter(i -> document.isCounted()[i]).map(i -> document.ids()[i])
                .toArray();
    }

    private static ObjectNode chat(String messages) {
        try {
            return JSON.createObjectNode().set("messages", JSON.readTree(messages));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
