package dev.troupe.chat;

import com.hubspot.jinjava.interpret.InterpretException;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Map;

/** The functions that Hugging Face gives a template beside Jinja's own. */
public final class TemplateFunctions {
    private static final Map<Character, String> FIELDS = Map.of('Y', "yyyy", 'm', "MM", 'd', "dd", 'b', "MMM", 'B',
            "MMMM", 'H', "HH", 'M', "mm", 'S', "ss", 'A', "EEEE", 'a', "EEE");

    private TemplateFunctions() {
    }

    /** {@code raise_exception}: the template refuses a chat. */
    public static Object raise(Object message) {
        throw new InterpretException("it refuses the chat: " + message);
    }

    /** {@code strftime_now}: the time now, as C's {@code strftime} writes it. */
    public static String now(String format) {
        LocalDateTime now = LocalDateTime.now();
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < format.length(); i++) {
            char sign = format.charAt(i);
            if (sign != '%' || i + 1 == format.length()) {
                text.append(sign);
                continue;
            }
            char field = format.charAt(++i);
            if (!FIELDS.containsKey(field)) {
                throw new InterpretException("strftime_now knows no %" + field);
            }
            text.append(now.format(DateTimeFormatter.ofPattern(FIELDS.get(field), Locale.ENGLISH)));
        }
        return text.toString();
    }
}
