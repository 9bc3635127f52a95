package dev.troupe.config.value;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigList;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigValue;
import java.util.Map;

/** The text of a configuration as a file has it, in the order of the defaults. */
public final class ConfigText {
    private static final ConfigRenderOptions PLAIN = ConfigRenderOptions.concise();

    private final ConfigObject node;
    private final StringBuilder text = new StringBuilder();

    private ConfigText(ConfigObject node) {
        this.node = node;
    }

    /** Returns the text of values by their keys without {@code troupe.}. */
    public static String of(Config values) {
        // Without substitutions, so that each key has the line on which it is declared.
        ConfigObject declared = Sources.declarations().root();
        ConfigText text = new ConfigText((ConfigObject) declared.get(Sources.NODE));
        text.section(Sources.ROOT + " {", values.root(), (ConfigObject) declared.get(Sources.ROOT), "", "}");
        return text.text.toString();
    }

    private void section(String begin, ConfigObject values, ConfigObject declared, String indent, String end) {
        line(indent, begin);
        String inner = indent + "  ";
        for (Map.Entry<String, ConfigValue> declaration : FileOrder.of(declared)) {
            String name = declaration.getKey();
            switch (values.get(name)) {
                case ConfigObject section -> section(name + " {", section, (ConfigObject) declaration.getValue(), inner,
                        "}");
                case ConfigList list when isOfSections(list) -> {
                    line(inner, name + " = [");
                    list.forEach(element -> section("{", (ConfigObject) element, node, inner + "  ", "}"));
                    line(inner, "]");
                }
                case null -> {
                    // A key without a value in this run.
                }
                case ConfigValue value -> line(inner, name + " = " + value.render(PLAIN));
            }
        }
        line(indent, end);
    }

    private static boolean isOfSections(ConfigList list) {
        return !list.isEmpty() && list.getFirst() instanceof ConfigObject;
    }

    private void line(String indent, String content) {
        text.append(indent).append(content).append('\n');
    }
}
