package dev.troupe.engine.cuda.ptx;

import java.util.ArrayList;
import java.util.List;

/**
 * One statement of a kernel's body.
 *
 * @param guard the predicate in front of it, with a {@code !} if it is negated; empty for none
 * @param name of the instruction, all its parts, or of a directive
 * @param operands a vector's parts apart, and addresses in their brackets
 */
record Statement(String guard, String name, List<String> operands, String text) {
    static Statement of(String text) {
        String rest = text;
        String guard = "";
        if (rest.startsWith("@")) {
            int space = rest.indexOf(' ');
            guard = rest.substring(1, space);
            rest = rest.substring(space + 1).strip();
        }
        int end = 0;
        while (end < rest.length() && !Character.isWhitespace(rest.charAt(end))) {
            end++;
        }
        List<String> operands = new ArrayList<>();
        for (String operand : rest.substring(end).replaceAll("[{}]", " ").split(",")) {
            if (!operand.isBlank()) {
                operands.add(operand.strip());
            }
        }
        return new Statement(guard, rest.substring(0, end), List.copyOf(operands), text);
    }

    /** Whether one of the parts of the name is this. */
    boolean has(String part) {
        return ("." + name + ".").contains("." + part + ".");
    }

    /** The last part of the name: the type of an arithmetic instruction. */
    String type() {
        return name.substring(name.lastIndexOf('.') + 1);
    }

    String base() {
        int dot = name.indexOf('.');
        return dot < 0 ? name : name.substring(0, dot);
    }
}
