package dev.troupe.weights;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** The wording of file content in messages. */
public final class Wording {
    private static final int LONGEST = 100;

    private Wording() {
    }

    /** Returns text from a file, in quotes, short, and without characters that would break a line or a terminal. */
    public static String quoted(String text) {
        String start = text.length() > LONGEST ? text.substring(0, LONGEST) + "..." : text;
        StringBuilder shown = new StringBuilder("\"");
        start.chars().forEach(c -> shown.append(Character.isISOControl(c) || Character.isSurrogate((char) c)
                ? '?'
                : (char) c));
        return shown.append('"').toString();
    }

    /** Returns the reason why the operating system refused, in words. */
    public static String reason(IOException failure) {
        return switch (failure) {
            case NoSuchFileException _ -> "there is no such file";
            case AccessDeniedException _ -> "permission denied";
            case CharacterCodingException _ -> "it is not UTF-8 text";
            case FileSystemException system when system.getReason() != null -> system.getReason();
            default -> failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
        };
    }
}
