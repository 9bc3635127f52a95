package dev.troupe.chat.syntax;

/**
 * A piece of a template's source.
 *
 * @param line the line of its beginning, from 1
 * @param text its text: for data and strings their characters, else as written
 */
record Token(int line, Kind kind, String text) {
    /** The kinds of tokens. Comments and white space are no tokens. */
    enum Kind {
        DATA, PRINT_BEGIN, PRINT_END, TAG_BEGIN, TAG_END, NAME, STRING, INTEGER, FLOAT, OPERATOR, END
    }

    boolean isOperator(String sign) {
        return kind == Kind.OPERATOR && text.equals(sign);
    }

    boolean isName(String name) {
        return kind == Kind.NAME && text.equals(name);
    }

    String described() {
        return switch (kind) {
            case DATA -> "text";
            case PRINT_BEGIN -> "{{";
            case PRINT_END -> "}}";
            case TAG_BEGIN -> "{%";
            case TAG_END -> "%}";
            case STRING -> "a string";
            case END -> "the end of the template";
            case NAME, INTEGER, FLOAT, OPERATOR -> "\"" + (text.length() > 40 ? text.substring(0, 40) + "..." : text)
                    + "\"";
        };
    }
}
