package dev.troupe.chat.render;

import dev.troupe.chat.value.TemplateException;
import java.util.function.Supplier;

/** The depth of nested macros, calls and recursive loops. */
final class Depth {
    private static final int DEEPEST = 64;

    private int depth;

    <T> T deeper(Supplier<T> inside) {
        if (depth == DEEPEST) {
            throw new TemplateException("macros and loops call each other more than " + DEEPEST + " deep");
        }
        depth++;
        try {
            return inside.get();
        } finally {
            depth--;
        }
    }
}
