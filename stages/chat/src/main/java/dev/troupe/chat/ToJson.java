package dev.troupe.chat;

import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.core.util.Separators;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.hubspot.jinjava.interpret.InterpretException;
import com.hubspot.jinjava.interpret.JinjavaInterpreter;
import com.hubspot.jinjava.lib.filter.Filter;
import java.io.IOException;
import java.io.StringWriter;
import java.util.Map;

/** {@code tojson} as Hugging Face has it: Python's {@code json.dumps} with its separators, letters as they are. */
final class ToJson implements Filter {
    private static final JsonMapper JSON = new JsonMapper();

    @Override
    public String getName() {
        return "tojson";
    }

    @Override
    public Object filter(Object value, JinjavaInterpreter interpreter, Object[] arguments, Map<String, Object> named) {
        Object indent = named.getOrDefault("indent", arguments.length == 0 ? null : arguments[0]);
        Limited text = new Limited();
        try {
            JSON.writer(printer(indent instanceof Number number ? number.intValue() : -1)).writeValue(text, value);
            return text.toString();
        } catch (IOException failure) {
            throw new InterpretException("tojson: " + failure.getMessage(), failure);
        }
    }

    /** A text that may not become too long. */
    private static final class Limited extends StringWriter {
        @Override
        public void write(char[] letters, int from, int count) {
            require(count);
            super.write(letters, from, count);
        }

        @Override
        public void write(String letters, int from, int count) {
            require(count);
            super.write(letters, from, count);
        }

        private void require(int more) {
            if (getBuffer().length() + more > ChatTemplate.LONGEST_TEXT) {
                throw new InterpretException(
                        "tojson: the text would be longer than " + ChatTemplate.LONGEST_TEXT + " characters");
            }
        }
    }

    private static DefaultPrettyPrinter printer(int indent) {
        Separators.Spacing after = Separators.Spacing.AFTER;
        Separators.Spacing between = indent < 0 ? after : Separators.Spacing.NONE;
        DefaultPrettyPrinter printer = new DefaultPrettyPrinter(Separators.createDefaultInstance()
                .withObjectFieldValueSpacing(after).withObjectEntrySpacing(between).withArrayValueSpacing(between)
                .withObjectEmptySeparator("").withArrayEmptySeparator(""));
        DefaultPrettyPrinter.Indenter indenter = indent < 0
                ? DefaultPrettyPrinter.NopIndenter.instance
                : new DefaultIndenter(" ".repeat(Math.min(indent, 16)), "\n");
        printer.indentObjectsWith(indenter);
        printer.indentArraysWith(indenter);
        return printer;
    }

    @Override
    public Object filter(Object value, JinjavaInterpreter interpreter, String... arguments) {
        return filter(value, interpreter, arguments, Map.of());
    }
}
