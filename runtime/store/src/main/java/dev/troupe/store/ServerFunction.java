package dev.troupe.store;

/** The rule by which a server turns a pushed gradient into new parameters, element by element. */
public sealed interface ServerFunction {
    /** Returns the number of state values of each parameter. */
    int stateCount();

    /**
     * Updates one parameter.
     *
     * @param value the parameter
     * @param state its state, which changes; zeros at first
     * @param at the index of the parameter in each array of the state
     * @param update the number of updates including this one, from 1
     * @return the new parameter
     */
    double updated(double value, double gradient, double[][] state, int at, long update);

    /** {@code w -= rate g}. */
    record Sgd(double rate) implements ServerFunction {
        @Override
        public int stateCount() {
            return 0;
        }

        @Override
        public double updated(double value, double gradient, double[][] state, int at, long update) {
            return value - rate * gradient;
        }
    }

    /** {@code v = momentum v + g}, {@code w -= rate (g + momentum v)}, as {@code torch.optim.SGD} with Nesterov momentum. */
    record Nesterov(double rate, double momentum) implements ServerFunction {
        @Override
        public int stateCount() {
            return 1;
        }

        @Override
        public double updated(double value, double gradient, double[][] state, int at, long update) {
            state[0][at] = momentum * state[0][at] + gradient;
            return value - rate * (gradient + momentum * state[0][at]);
        }
    }

    /**
     * {@code K += g g}, {@code w -= rate g / (sqrt(K) + epsilon)} (Duchi et al. 2011; Dean et al. 2012, section 4.1), as
     * {@code torch.optim.Adagrad}.
     */
    record Adagrad(double rate, double epsilon) implements ServerFunction {
        @Override
        public int stateCount() {
            return 1;
        }

        @Override
        public double updated(double value, double gradient, double[][] state, int at, long update) {
            state[0][at] += gradient * gradient;
            return value - rate * gradient / (Math.sqrt(state[0][at]) + epsilon);
        }
    }

    /** Loshchilov and Hutter 2019, as {@code torch.optim.AdamW}. */
    record AdamW(double rate, double beta1, double beta2, double epsilon,
            double weightDecay) implements ServerFunction {
        @Override
        public int stateCount() {
            return 2;
        }

        @Override
        public double updated(double value, double gradient, double[][] state, int at, long update) {
            state[0][at] = beta1 * state[0][at] + (1 - beta1) * gradient;
            state[1][at] = beta2 * state[1][at] + (1 - beta2) * gradient * gradient;
            double mean = state[0][at] / (1 - Math.pow(beta1, update));
            double square = state[1][at] / (1 - Math.pow(beta2, update));
            return value * (1 - rate * weightDecay) - rate * mean / (Math.sqrt(square) + epsilon);
        }
    }
}
