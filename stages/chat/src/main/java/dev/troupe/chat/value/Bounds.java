package dev.troupe.chat.value;

/** The limits of an untrusted template on lengths, sizes and depths, and the check that ends an interrupted rendering. */
public final class Bounds {
    /** The characters of any text. */
    public static final int LONGEST_TEXT = 1 << 24;
    /** The elements of any list. */
    public static final int MOST_ELEMENTS = 1 << 20;
    /** Values inside values that are printed, compared or written as JSON. */
    public static final int DEEPEST = 500;
    /** The digits of a number that is printed or read, as in Python. */
    public static final int MOST_DIGITS = 4300;
    /** The bits of a number. */
    public static final int MOST_BITS = 1 << 17;

    private Bounds() {
    }

    /** Checks the length of a text before it is made. */
    public static int requireText(long length) {
        if (length > LONGEST_TEXT) {
            throw new TemplateException("a text would be longer than " + LONGEST_TEXT + " characters");
        }
        return (int) length;
    }

    /** Checks the size of a list before it is made. */
    public static int requireElements(long size) {
        if (size > MOST_ELEMENTS) {
            throw new TemplateException("a list would have more than " + MOST_ELEMENTS + " elements");
        }
        return (int) size;
    }

    /** Ends the rendering of an interrupted thread; everything that repeats calls it. */
    public static void checkTime() {
        if (Thread.currentThread().isInterrupted()) {
            throw new TemplateException("it was stopped");
        }
    }

    public static int deeper(int depth) {
        checkTime();
        if (depth >= DEEPEST) {
            throw new TemplateException("values are nested more than " + DEEPEST + " deep");
        }
        return depth + 1;
    }
}
