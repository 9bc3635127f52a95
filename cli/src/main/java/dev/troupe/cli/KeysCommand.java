package dev.troupe.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.cli.options.SettingValues;
import dev.troupe.cli.report.Columns;
import dev.troupe.cli.report.Terminal;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.config.Key;
import dev.troupe.config.Keys;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe keys}: every key of a run, with its default, its reason and its values. */
@Command(name = "keys", mixinStandardHelpOptions = true, description = {
        "Lists the keys of a configuration, each with its default, its reason and its values."})
final class KeysCommand implements Callable<Integer> {
    enum Format {
        text, json
    }

    private static final JsonMapper JSON = new JsonMapper();
    private static final String INDENT = "    ";

    @Parameters(arity = "0..1", paramLabel = "PREFIX", defaultValue = "", description = {
            "A key, a section such as training, or how keys begin; default: all."})
    private String prefix;

    @Option(names = "--format", defaultValue = "text", description = "${COMPLETION-CANDIDATES}; default: text.")
    private Format format;

    private final PrintStream output = System.out;

    @Override
    public Integer call() throws JsonProcessingException {
        List<Key> keys = SettingValues.withNames(new Keys().startingWith(prefix));
        output.print(switch (format) {
            case text -> text(keys, Terminal.ofOutput());
            case json -> json(keys);
        });
        output.flush();
        return ExitCode.DONE;
    }

    static String text(List<Key> keys, Terminal terminal) {
        return keys.stream().map(key -> terminal.bold(key.path()) + " = " + key.standard() + "\n"
                + Columns.wrapped(description(key), terminal.textColumns(), INDENT) + "\n")
                .collect(Collectors.joining());
    }

    private static String description(Key key) {
        StringBuilder text = new StringBuilder(key.reason());
        text.append(key.reason().isEmpty() ? "" : " ").append("Value: ").append(key.accepts()).append('.');
        key.only().forEach((other, values) -> text.append(" Only if ").append(other).append(" is ")
                .append(String.join(" or ", values)).append('.'));
        return text.append(key.differs() ? " Nodes may differ." : "").toString();
    }

    private static String json(List<Key> keys) throws JsonProcessingException {
        ArrayNode all = JSON.createArrayNode();
        for (Key key : keys) {
            ObjectNode one = all.addObject().put("key", key.path());
            one.set("default", value(key.standard()));
            one.put("reason", key.reason()).put("accepts", key.accepts()).put("nodes_may_differ", key.differs());
            if (!key.only().isEmpty()) {
                ObjectNode only = one.putObject("only");
                key.only().forEach((other, values) -> values.forEach(only.putArray(other)::add));
            }
            if (!key.choices().isEmpty()) {
                key.choices().forEach(one.putArray("choices")::add);
            }
        }
        return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(all) + "\n";
    }

    /** Returns a default value as JSON; a value that is no JSON, such as a duration, becomes a text. */
    private static JsonNode value(String standard) {
        try {
            return JSON.readTree(standard);
        } catch (JsonProcessingException _) {
            return JSON.getNodeFactory().textNode(standard);
        }
    }
}
