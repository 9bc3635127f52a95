package dev.troupe.chat;

import java.util.ArrayList;
import java.util.List;

/**
 * The text of a chat, and the parts of it that the template marks with {@code {% generation %}}.
 *
 * @param text the text, without marks
 * @param answers the marked parts, in their order, none inside another
 */
public record MarkedText(String text, List<Part> answers) {
    /** The ends of a mark, around its number: characters that Unicode assigns to no text (16.0, section 23.7). */
    private static final char BEGIN = '\uFDD0';
    private static final char END = '\uFDD1';

    public MarkedText {
        answers = List.copyOf(answers);
    }

    /**
     * A part of a text.
     *
     * @param from index of its first character
     * @param to index of the character after it
     */
    public record Part(int from, int to) {
    }

    static String beginMark(String number) {
        return BEGIN + number + BEGIN;
    }

    static String endMark(String number) {
        return END + number + END;
    }

    /**
     * Removes the marks of a number from a text.
     *
     * @throws IllegalArgumentException if a mark has no beginning or no end
     */
    static MarkedText of(String marked, String number) {
        String begin = beginMark(number);
        String end = endMark(number);
        StringBuilder text = new StringBuilder();
        List<Part> answers = new ArrayList<>();
        int depth = 0;
        int from = 0;
        for (int at = 0; at < marked.length();) {
            if (marked.startsWith(begin, at)) {
                if (depth++ == 0) {
                    from = text.length();
                }
                at += begin.length();
            } else if (marked.startsWith(end, at)) {
                if (depth-- == 0) {
                    throw new IllegalArgumentException("a mark ends that did not begin");
                }
                if (depth == 0) {
                    answers.add(new Part(from, text.length()));
                }
                at += end.length();
            } else {
                text.append(marked.charAt(at++));
            }
        }
        if (depth != 0) {
            throw new IllegalArgumentException("a mark has no end");
        }
        return new MarkedText(text.toString(), answers);
    }
}
