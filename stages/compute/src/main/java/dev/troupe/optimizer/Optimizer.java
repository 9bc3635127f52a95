package dev.troupe.optimizer;

/** How gradients change weights. Weight decay acts on tensors of two or more dimensions only. */
public sealed interface Optimizer {
    /** How many numbers it remembers of each weight. */
    int momentCount();

    /**
     * Loshchilov and Hutter 2019, as {@code torch.optim.AdamW}: two moments per weight.
     *
     * @param beta1
     *            decay of the first moment
     * @param beta2
     *            decay of the second moment
     * @param epsilon
     *            added to the root of the second moment
     * @param weightDecay
     *            decoupled decay
     */
    record AdamW(double beta1, double beta2, double epsilon, double weightDecay) implements Optimizer {
        public AdamW {
            if (!(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1)) {
                throw new IllegalArgumentException(
                        "the betas of AdamW must lie in [0, 1), but found " + beta1 + " and " + beta2);
            }
            if (!(epsilon > 0 && weightDecay >= 0)) {
                throw new IllegalArgumentException("AdamW needs an epsilon above 0 and a weight decay of at least 0,"
                        + " but found " + epsilon + " and " + weightDecay);
            }
        }

        @Override
        public int momentCount() {
            return 2;
        }
    }

    /**
     * Stochastic gradient descent without momentum, as {@code torch.optim.SGD}.
     *
     * @param weightDecay
     *            decay, added to the gradient
     */
    record Sgd(double weightDecay) implements Optimizer {
        public Sgd {
            if (!(weightDecay >= 0)) {
                throw new IllegalArgumentException(
                        "the weight decay of SGD must be at least 0, but found " + weightDecay);
            }
        }

        @Override
        public int momentCount() {
            return 0;
        }
    }
}
