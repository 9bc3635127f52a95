package dev.troupe.schedule.drawing;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import java.util.Locale;

/**
 * The colours of a drawing: a hue for each kind, lighter for each later lap over the ranks. If actions name the version of
 * the weights that they read, the odd versions are lighter. The hues are Okabe and Ito's, which people with any kind of
 * colour blindness can distinguish; the text on each has a contrast of 4.5 to 1 or more.
 *
 * @param code short name of the shade, such as {@code F0}
 * @param fill red, green and blue
 * @param text red, green and blue of the text on it
 */
record Shade(String code, int fill, int text) {
    /** Number of laps with a shade of their own; later laps share the last shade. */
    static final int LAPS = 4;

    private static final int WHITE = 0xFFFFFF;
    private static final int BLACK = 0x000000;
    private static final int[] BLUES = {0x0072B2, 0x56B4E9, 0x8FCBF0, 0xB9DEF6};
    private static final int[] ORANGES = {0xBF5400, 0xE69F00, 0xF3C766, 0xF8DA9C};
    private static final int[] GREENS = {0x007A5A, 0x33B890, 0x8AD7BF, 0xB0E5D4};
    private static final int[] GREYS = {0x5F6670, 0x9AA2AD, 0xBBC2CA, 0xD3D8DE};
    private static final int[] PURPLES = {0x9A4E7D, 0xD48DB3, 0xE6BAD1, 0xEDCBDD};

    static Shade of(Action action, int rankCount) {
        return of(action.kind(), action.namesVersion() ? action.version() % 2 : action.stage() / rankCount); // the lap
    }

    /** Returns the shade of a kind that computes, on a lap from 0. */
    static Shade of(Kind kind, int lap) {
        int index = Math.min(lap, LAPS - 1);
        int[] hue = switch (kind) {
            case FORWARD -> BLUES;
            case FULL_BACKWARD -> ORANGES;
            case BACKWARD_INPUT -> GREENS;
            case BACKWARD_WEIGHT -> PURPLES;
            case RECOMPUTE -> GREYS;
            default ->
                throw new IllegalArgumentException(kind + " computes nothing and has no shade");
        };
        return new Shade(kind.letter() + index, hue[index], index == 0 ? WHITE : BLACK);
    }

    String cssFill() {
        return css(fill);
    }

    String cssText() {
        return css(text);
    }

    private static String css(int colour) {
        return String.format(Locale.ROOT, "#%06x", colour);
    }
}
