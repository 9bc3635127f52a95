package dev.troupe.engine.cpu.loop;

/**
 * Loops over the vectors of a row, each compiled separately from its callers.
 *
 * <p>A loop of vectors is a few operations in source and thousands of nodes in the compiler. Beyond 18,000 nodes in one
 * piece of code the compiler stops inlining, even inside a loop, and each later vector becomes an object. Code with several
 * loops over a row, such as attention, therefore must not inline them. Only a call with an unknown target prevents that:
 * {@link #run} is the only call of these loops, and has too many target classes for the compiler to guess one.
 */
public enum RowLoop {
    FILL {
        @Override
        float of(long x, long y, long z, float value, float factor, int count, long lanes) {
            Elements.fill(x, value, count);
            return 0;
        }
    },
    SCALE {
        @Override
        float of(long x, long y, long z, float value, float factor, int count, long lanes) {
            Elements.scale(x, factor, count);
            return 0;
        }
    },
    /** y = factor y + x. */
    SCALE_AND_ADD {
        @Override
        float of(long x, long y, long z, float value, float factor, int count, long lanes) {
            Elements.scaleAndAdd(x, factor, y, count);
            return 0;
        }
    },
    HIGHEST {
        @Override
        float of(long x, long y, long z, float value, float factor, int count, long lanes) {
            return Softmax.highest(x, count, value, lanes);
        }
    },
    /** y = e^(x - value), and its sum. */
    EXPONENTIALS {
        @Override
        float of(long x, long y, long z, float value, float factor, int count, long lanes) {
            return Exponential.ofRow(x, value, y, count, lanes);
        }
    },
    DOT {
        @Override
        float of(long x, long y, long z, float value, float factor, int count, long lanes) {
            return Softmax.dot(x, y, count, lanes);
        }
    },
    /** The sum of products of numbers of bfloat16. */
    NARROW_DOT {
        @Override
        float of(long x, long y, long z, float value, float factor, int count, long lanes) {
            return Bfloats.dot(x, y, count, lanes);
        }
    },
    /** Converts y, gradients of the probabilities x, to gradients of scores, factor x (y - value). */
    SCORE_GRADIENTS {
        @Override
        float of(long x, long y, long z, float value, float factor, int count, long lanes) {
            Softmax.backward(x, y, value, factor, count);
            return 0;
        }
    },
    WIDEN {
        @Override
        float of(long x, long y, long z, float value, float factor, int count, long lanes) {
            Bfloats.widen(x, y, count);
            return 0;
        }
    },
    NARROW {
        @Override
        float of(long x, long y, long z, float value, float factor, int count, long lanes) {
            Bfloats.narrow(x, y, count);
            return 0;
        }
    },
    SUM {
        @Override
        float of(long x, long y, long z, float value, float factor, int count, long lanes) {
            return RowSums.sum(x, count, lanes);
        }
    },
    /** The sum of the squares of x - value. */
    SQUARED_OFFSETS {
        @Override
        float of(long x, long y, long z, float value, float factor, int count, long lanes) {
            return RowSums.squaredOffsets(x, value, count, lanes);
        }
    },
    /** The two sums of a norm's backward over gradients x, inputs y and gamma z, of a mean and a reciprocal. */
    NORM_SUMS {
        @Override
        float of(long x, long y, long z, float value, float factor, int count, long lanes) {
            RowSums.backwardSums(x, y, z, value, factor, count, lanes);
            return 0;
        }
    },
    /** y = x factor if a word of z is not below a threshold, given in place of lanes, otherwise 0. */
    DROP {
        @Override
        float of(long x, long y, long z, float value, float factor, int count, long lanes) {
            Masks.apply(z, (int) lanes, factor, x, y, count);
            return 0;
        }
    };

    /** An array, since the compiler does not treat its elements as constants of a known class. */
    private static final RowLoop[] LOOPS = values();

    abstract float of(long x, long y, long z, float value, float factor, int count, long lanes);

    private static float run(RowLoop loop, long x, long y, long z, float value, float factor, int count, long lanes) {
        return LOOPS[loop.ordinal()].of(x, y, z, value, factor, count, lanes);
    }

    public static void fill(long x, float value, int count) {
        run(FILL, x, 0, 0, value, 0, count, 0);
    }

    public static void scale(long x, float factor, int count) {
        run(SCALE, x, 0, 0, 0, factor, count, 0);
    }

    public static void scaleAndAdd(long x, float factor, long y, int count) {
        run(SCALE_AND_ADD, x, y, 0, 0, factor, count, 0);
    }

    public static float highest(long scores, int count, float least, long lanes) {
        return run(HIGHEST, scores, 0, 0, least, 0, count, lanes);
    }

    public static float exponentials(long x, float shift, long y, int count, long lanes) {
        return run(EXPONENTIALS, x, y, 0, shift, 0, count, lanes);
    }

    public static float dot(long left, long right, int count, long lanes) {
        return run(DOT, left, right, 0, 0, 0, count, lanes);
    }

    public static float narrowDot(long left, long right, int count, long lanes) {
        return run(NARROW_DOT, left, right, 0, 0, 0, count, lanes);
    }

    public static void scoreGradients(long probabilities, long dProbabilities, float mean, float scale,
            int wholeVectors) {
        run(SCORE_GRADIENTS, probabilities, dProbabilities, 0, mean, scale, wholeVectors, 0);
    }

    public static void widen(long numbers, long floats, int count) {
        run(WIDEN, numbers, floats, 0, 0, 0, count, 0);
    }

    public static void narrow(long floats, long numbers, int count) {
        run(NARROW, floats, numbers, 0, 0, 0, count, 0);
    }

    public static float sum(long x, int count, long lanes) {
        return run(SUM, x, 0, 0, 0, 0, count, lanes);
    }

    public static float squaredOffsets(long x, float mean, int count, long lanes) {
        return run(SQUARED_OFFSETS, x, 0, 0, mean, 0, count, lanes);
    }

    public static void normSums(long dy, long x, long gamma, float mean, float r, int count, long lanes) {
        run(NORM_SUMS, dy, x, gamma, mean, r, count, lanes);
    }

    static void drop(long words, int threshold, float raise, long x, long y, int count) {
        run(DROP, x, y, words, 0, raise, count, threshold);
    }
}
