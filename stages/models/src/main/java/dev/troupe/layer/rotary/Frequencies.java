package dev.troupe.layer.rotary;

import java.util.Optional;

/**
 * The angles by which rotary positions turn each pair of a head from one place to the next (Su et al. 2021): pair i of d/2
 * by {@code base^(-2i/d)}, scaled if the model is for longer sequences than it was first trained on.
 *
 * @param headSize D, even
 * @param turned d, the first numbers of a head that turn, even and at most D; the others have no positions
 * @param scaling if there is one
 */
public record Frequencies(int headSize, int turned, double base, Optional<Scaling> scaling) {
    /**
     * The scaling of Llama 3.1 (Grattafiori et al. 2024): frequencies with a wave longer than
     * {@code originalLength / lowFactor} are divided by {@code factor}, those with a wave shorter than
     * {@code originalLength / highFactor} stay, with a smooth transition between the two.
     *
     * @param factor the factor of long waves
     * @param lowFactor waves that fit fewer times into originalLength are stretched
     * @param highFactor waves that fit more times are unchanged; above {@code lowFactor}
     * @param originalLength tokens of a sequence in the first training
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

    /** Returns the angle of each pair, in radians a place, [d/2]. */
    public double[] perPlace() {
        double[] f = new double[turned / 2];
        for (int i = 0; i < f.length; i++) {
            double frequency = 1 / StrictMath.pow(base, 2.0 * i / turned);
            f[i] = scaling.map(how -> how.scaled(frequency)).orElse(frequency);
        }
        return f;
    }
}
