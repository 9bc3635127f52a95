package dev.troupe.partition;

import dev.troupe.model.LayerSpec;
import dev.troupe.model.ModelSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The parser of a layout string in the form of Megatron-LM, such as {@code Et|(tt|)*2tL}.
 *
 * <pre>
 * sequence: item*
 * item:     atom [ '*' number ]
 * atom:     letter | 't' | '|' | '(' sequence ')'
 * </pre>
 *
 * The letters belong to the model's layers: E embedding, a attention half, m MLP half, L head. A t is all halves of a block.
 */
final class LayoutString {
    // Far above any model; without a limit a typing error such as (t*9999)*9999 would fill the memory.
    private static final int MOST_SYMBOLS = 1_000_000;

    private static final char BLOCK = 't';
    private static final char BORDER = '|';

    private final String text;
    private final char embedding;
    private final List<Character> halves;
    private final char head;
    private int place;

    private LayoutString(String text, ModelSpec model) {
        this.text = text;
        this.embedding = model.layers().getFirst().letter();
        this.halves = model.layers().stream().filter(LayerSpec::isHalf).map(LayerSpec::letter).distinct().toList();
        this.head = model.layers().getLast().letter();
    }

    /** A symbol after repetition, with its place in the string. */
    private record Symbol(char kind, int place) {
    }

    /** Returns the layers of each stage; see {@link Partition#layout}. */
    static List<LayerRange> stages(String text, ModelSpec model, int stageCount) {
        LayoutString layout = new LayoutString(text, model);
        List<Symbol> symbols = layout.sequence(0);
        if (layout.place < text.length()) {
            throw layout.refused(layout.place, "there is no '(' that this ')' closes");
        }
        layout.checkLayers(symbols, model);
        return layout.cut(symbols, stageCount);
    }

    private List<Symbol> sequence(int depth) {
        List<Symbol> symbols = new ArrayList<>();
        for (char next = peek(); next != 0; next = peek()) {
            int start = place;
            List<Symbol> atom = switch (next) {
                case '(' -> group(depth);
                case ')' -> null;
                default -> symbol(next);
            };
            if (atom == null) {
                return symbols;
            }
            int times = repetition();
            if (symbols.size() + (long) atom.size() * times > MOST_SYMBOLS) {
                throw refused(start, "this makes more than " + MOST_SYMBOLS + " symbols");
            }
            for (int time = 0; time < times; time++) {
                symbols.addAll(atom);
            }
        }
        return symbols;
    }

    private List<Symbol> symbol(char letter) {
        if (letter != BLOCK && letter != BORDER && letter != embedding && letter != head && !halves.contains(letter)) {
            throw refused(place, "expected " + embedding + ", " + BLOCK + ", " + listed(halves) + head + ", " + BORDER
                    + ", ( or ), but found '" + letter + "'");
        }
        return List.of(new Symbol(letter, place++));
    }

    private static String listed(List<Character> letters) {
        return letters.stream().map(letter -> letter + ", ").collect(Collectors.joining());
    }

    private List<Symbol> group(int depth) {
        int open = place++;
        if (depth > 100) {
            throw refused(open, "parentheses are nested more than 100 deep");
        }
        List<Symbol> inside = sequence(depth + 1);
        if (peek() != ')') {
            throw refused(open, "this '(' is never closed");
        }
        place++;
        if (inside.isEmpty()) {
            throw refused(open, "these parentheses hold nothing");
        }
        return inside;
    }

    private int repetition() {
        if (peek() != '*') {
            return 1;
        }
        place++;
        peek();
        int start = place;
        while (place < text.length() && text.charAt(place) >= '0' && text.charAt(place) <= '9') {
            place++;
        }
        String digits = text.substring(start, place);
        if (digits.isEmpty()) {
            throw refused(start, "expected a number after '*'");
        }
        if (digits.length() > 6 || Integer.parseInt(digits) < 1) {
            throw refused(start, "expected a number of repetitions from 1 to 999999, but found " + digits);
        }
        return Integer.parseInt(digits);
    }

    /** Returns the next significant character, without taking it; 0 at the end. */
    private char peek() {
        while (place < text.length() && Character.isWhitespace(text.charAt(place))) {
            place++;
        }
        return place < text.length() ? text.charAt(place) : 0;
    }

    private void checkLayers(List<Symbol> symbols, ModelSpec model) {
        List<Symbol> layers = symbols.stream().filter(symbol -> symbol.kind() != BORDER).toList();
        int expected = 0; // half of a block
        int blocks = 0;
        for (int number = 0; number < layers.size(); number++) {
            Symbol layer = layers.get(number);
            if (layer.kind() == embedding && number > 0) {
                throw refused(layer.place(), "the embedding " + embedding + " comes once, before everything else");
            }
            if (layer.kind() == head && number < layers.size() - 1) {
                throw refused(layer.place(), "the head " + head + " comes once, after everything else");
            }
            boolean isExpected = halves.contains(layer.kind()) ? layer.kind() == halves.get(expected) : expected == 0;
            if (!isExpected) {
                throw refused(layer.place(), "the halves of a block come as " + listed(halves)
                        + "other layers before or after both: expected " + halves.get(expected));
            }
            expected = halves.contains(layer.kind()) ? (expected + 1) % halves.size() : 0;
            blocks += layer.kind() == BLOCK || layer.kind() == halves.getLast() ? 1 : 0;
        }
        if (layers.isEmpty() || layers.getFirst().kind() != embedding) {
            throw refused(0, "the embedding is nowhere: the first layer must be " + embedding);
        }
        if (layers.getLast().kind() != head) {
            throw refused(text.length(), "the head is nowhere: the last layer must be " + head);
        }
        if (blocks != model.blockCount()) {
            throw refused(layers.getLast().place(), "the model has " + model.blockCount() + " blocks, but found "
                    + blocks + " " + BLOCK + " before the head");
        }
    }

    private List<LayerRange> cut(List<Symbol> symbols, int stageCount) {
        List<LayerRange> stages = new ArrayList<>();
        int first = 0;
        int next = 0;
        for (Symbol symbol : symbols) {
            if (symbol.kind() == BORDER) {
                stages.add(stage(stages.size(), first, next, symbol.place()));
                first = next;
            } else {
                next += symbol.kind() == BLOCK ? halves.size() : 1;
            }
        }
        stages.add(stage(stages.size(), first, next, text.length()));
        if (stages.size() != stageCount) {
            throw refused(text.length(), "expected " + stageCount + " stages (parallel.pipeline times"
                    + " parallel.virtual-stages), but found " + stages.size());
        }
        return stages;
    }

    private LayerRange stage(int stage, int first, int next, int place) {
        if (first == next) {
            throw refused(place, "stage " + stage + " has no layer: every stage needs at least one");
        }
        return new LayerRange(first, next - 1);
    }

    private IllegalArgumentException refused(int at, String why) {
        // All white space becomes blanks, so that the mark is under its place.
        String line = text.replaceAll("\\s", " ");
        return new IllegalArgumentException("the layout of the stages cannot be used: " + why + " (column " + (at + 1)
                + ")\n  " + line + "\n  " + " ".repeat(at) + "^");
    }
}
