package dev.troupe.config.value;

/** The range of numbers that a key accepts, which never includes NaN or infinity. */
public enum Range {
    /** At least 0. */
    NOT_NEGATIVE("of at least 0") {
        @Override
        boolean holds(double number) {
            return number >= 0 && number <= Double.MAX_VALUE;
        }
    },
    /** More than 0. */
    POSITIVE("above 0") {
        @Override
        boolean holds(double number) {
            return number > 0 && number <= Double.MAX_VALUE;
        }
    },
    /** More than 0, at most 1. */
    PROBABILITY("above 0 and at most 1") {
        @Override
        boolean holds(double number) {
            return number > 0 && number <= 1;
        }
    },
    /** At least 0 and below 1. */
    FRACTION("of at least 0 and below 1") {
        @Override
        boolean holds(double number) {
            return number >= 0 && number < 1;
        }
    };

    private final String words;

    Range(String words) {
        this.words = words;
    }

    abstract boolean holds(double number);

    String words() {
        return words;
    }
}
