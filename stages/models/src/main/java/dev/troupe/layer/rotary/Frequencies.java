package dev.troupe.layer.rotary;

import java.util.Optional;

/**
 * By how much rotary positions turn each pair of a head from one place to the next (Su et al. 2021): pair i of D/2 by
 * {@code base^(-2i/D)}, scaled if the model was made for longer sequences than it was trained on first.
 *
 * @param headSize D, even
 * @param base of the powers
 * @param scaling if there is one
 */
public record Frequencies(int headSize, double base, Optional<Scaling> scaling) {
    /**
     * The scaling of Llama 3.1 (Grattafiori et al. 2024): frequencies whose wave is longer than {@code originalLength /
     * lowFactor} are divided by {@code factor}, those whose wave is shorter than {@code originalLength / highFactor} stay,
     * and between the two it goes over from one to the other.
     *
     * @param factor what long waves are stretched by
     * @param lowFactor waves that fit fewer times are stretched
     * @param highFactor waves that fit more times stay, above {@code lowFactor}
     * @param originalLength tokens of a sequence before
     */
    public record Scaling(double factor, double lowFactor, double highFactor, int originalLength) {
        private double scaled(double frequency) {
            double waves = originalLength * frequency / (2 * Math.PI);
            if (waves < lowFactor) {
                return frequency / factor;
            }
            if (waves > highFactor) {
                return frequency;
            }
            double kept = (waves - lowFactor) / (highFactor - lowFactor);
            return (1 - kept) * frequency / factor + kept * frequency;
        }
    }

    /** [D/2]: the angle of each pair, in radians a place. */
    public double[] perPlace() {
        double[] f = new double[headSize / 2];
        for (int i = 0; i < f.length; i++) {
            double frequency = 1 / StrictMath.pow(base, 2.0 * i / headSize);
            f[i] = scaling.map(how -> how.scaled(frequency)).orElse(frequency);
        }
        return f;
    }
}
