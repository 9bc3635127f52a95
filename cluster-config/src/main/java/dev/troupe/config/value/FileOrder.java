package dev.troupe.config.value;

import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigValue;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** The entries of a section in the order of the lines of its file. */
public final class FileOrder {
    private FileOrder() {
    }

    /** Returns the entries; a substituted value has the line of its source once it is resolved. */
    public static List<Map.Entry<String, ConfigValue>> of(ConfigObject section) {
        return section.entrySet().stream().sorted(Comparator.comparingInt(entry -> firstLine(entry.getValue())))
                .toList();
    }

    private static int firstLine(ConfigValue value) {
        return value instanceof ConfigObject section && !section.isEmpty()
                ? section.values().stream().mapToInt(FileOrder::firstLine).min().orElseThrow()
                : value.origin().lineNumber();
    }
}
