package dev.troupe.chat.render;

import dev.troupe.chat.value.TemplateException;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoField;
import java.time.temporal.IsoFields;
import java.util.Locale;

/** The format of a time by C's {@code strftime} in the locale C, as on Linux. */
final class TimeFormat {
    private TimeFormat() {
    }

    static String formatted(LocalDateTime time, String format) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < format.length(); i++) {
            char sign = format.charAt(i);
            if (sign != '%' || i + 1 == format.length()) {
                text.append(sign);
                continue;
            }
            boolean isShort = format.charAt(i + 1) == '-' && i + 2 < format.length();
            i += isShort ? 2 : 1;
            String field = field(time, format.charAt(i));
            text.append(isShort && field.length() > 1 && field.startsWith("0") && Character.isDigit(field.charAt(1))
                    ? field.replaceFirst("^0+(?=.)", "")
                    : field);
        }
        return text.toString();
    }

    private static String field(LocalDateTime time, char field) {
        return switch (field) {
            case 'Y' -> Integer.toString(time.getYear());
            case 'y' -> pattern(time, "yy");
            case 'C' -> padded('0', time.getYear() / 100);
            case 'm' -> pattern(time, "MM");
            case 'd' -> pattern(time, "dd");
            case 'e' -> padded(' ', time.getDayOfMonth());
            case 'b', 'h' -> pattern(time, "MMM");
            case 'B' -> pattern(time, "MMMM");
            case 'a' -> pattern(time, "EEE");
            case 'A' -> pattern(time, "EEEE");
            case 'H' -> pattern(time, "HH");
            case 'I' -> pattern(time, "hh");
            case 'k' -> padded(' ', time.getHour());
            case 'M' -> pattern(time, "mm");
            case 'S' -> pattern(time, "ss");
            case 'f' -> pattern(time, "SSSSSS");
            case 'p' -> time.getHour() < 12 ? "AM" : "PM";
            case 'j' -> pattern(time, "DDD");
            case 'u' -> Integer.toString(time.getDayOfWeek().getValue());
            case 'w' -> Integer.toString(time.getDayOfWeek().getValue() % 7);
            case 'U' -> padded('0', (time.getDayOfYear() + 6 - time.getDayOfWeek().getValue() % 7) / 7);
            case 'W' -> padded('0', (time.getDayOfYear() + 6 - (time.getDayOfWeek().getValue() + 6) % 7) / 7);
            case 'V' -> padded('0', time.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR));
            case 'G' -> Integer.toString(time.get(IsoFields.WEEK_BASED_YEAR));
            case 'D', 'x' -> pattern(time, "MM/dd/yy");
            case 'F' -> pattern(time, "yyyy-MM-dd");
            case 'T', 'X' -> pattern(time, "HH:mm:ss");
            case 'R' -> pattern(time, "HH:mm");
            case 'r' -> pattern(time, "hh:mm:ss") + (time.get(ChronoField.AMPM_OF_DAY) == 0 ? " AM" : " PM");
            case 'c' -> pattern(time, "EEE MMM ") + padded(' ', time.getDayOfMonth()) + pattern(time, " HH:mm:ss yyyy");
            case 'Z', 'z' -> "";
            case 'n' -> "\n";
            case 't' -> "\t";
            case '%' -> "%";
            default -> throw new TemplateException("strftime_now knows no %" + field);
        };
    }

    private static String pattern(LocalDateTime time, String pattern) {
        return time.format(DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH));
    }

    private static String padded(char fill, int number) {
        return number < 10 ? fill + Integer.toString(number) : Integer.toString(number);
    }
}
