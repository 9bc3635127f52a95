package dev.troupe.engine.fallback.loop;

/**
 * Rotations of pairs by the angles of a place (Su et al. 2021). Letters: N rows, T sequence length, d the numbers of a head
 * that turn.
 */
public final class Rotary {
    private Rotary() {
    }

    /** x and y [N x columns], starts [N] or null, cosines and sines [at least T x half], half = d/2; y may be x. */
    public static void turn(double[] x, int columns, int[] starts, int t, double[] cosines, double[] sines, int half,
            int headSize, boolean back, double[] y) {
        for (int row = 0; row < x.length / columns; row++) {
            int angle = (row % t - (starts == null ? 0 : starts[row])) * half;
            for (int head = row * columns; head < (row + 1) * columns; head += headSize) {
                for (int i = 0; i < half; i++) {
                    double cosine = cosines[angle + i];
                    double sine = back ? -sines[angle + i] : sines[angle + i];
                    double first = x[head + i];
                    double second = x[head + half + i];
                    y[head + i] = first * cosine - second * sine;
                    y[head + half + i] = second * cosine + first * sine;
                }
                System.arraycopy(x, head + 2 * half, y, head + 2 * half, headSize - 2 * half);
            }
        }
    }
}
