package dev.troupe;

import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValueFactory;
import java.lang.reflect.Array;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** The text of a program's value, as the command's {@code -s} takes it after '='. */
final class SettingText {
    private SettingText() {
    }

    /**
     * Returns the text.
     *
     * @throws RequestException if a value is of a kind that no setting has
     */
    static String of(String key, Object value) {
        if (value instanceof Path path) {
            return ConfigUtil.quoteString(path.toString());
        }
        if (value instanceof Collection<?> || value.getClass().isArray()) {
            return ConfigValueFactory
                    .fromIterable(elements(value).stream().map(element -> plain(key, element)).toList())
                    .render(ConfigRenderOptions.concise());
        }
        return plain(key, value);
    }

    private static List<Object> elements(Object value) {
        if (value instanceof Collection<?> collection) {
            return new ArrayList<>(collection);
        }
        List<Object> elements = new ArrayList<>();
        for (int index = 0; index < Array.getLength(value); index++) {
            elements.add(Array.get(value, index));
        }
        return elements;
    }

    private static String plain(String key, Object value) {
        return switch (value) {
            case null -> throw new RequestException(key + " has an element that is null: leave it out");
            case Duration duration -> duration.toNanos() + " ns";
            case Enum<?> constant -> constant.toString();
            case CharSequence text -> text.toString();
            case Number number -> number.toString();
            case Boolean flag -> flag.toString();
            case Character letter -> letter.toString();
            case Path path -> path.toString();
            default -> throw new RequestException(key + " is set to a " + value.getClass().getName()
                    + ", which is no kind of value: give a number, a boolean, text, a Path, a Duration, or a list, set or"
                    + " array of such");
        };
    }
}
