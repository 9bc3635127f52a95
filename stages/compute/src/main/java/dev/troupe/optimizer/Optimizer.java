package dev.troupe.optimizer;

import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.offload.StateStore;
import java.util.List;
import java.util.stream.Stream;

/** The rule by which gradients change weights. Weight decay acts on tensors of two or more dimensions only. */
public sealed interface Optimizer {
    /** The name of the state of an optimizer with momentum. */
    String MOMENTUM = "momentum_buffer";
    /** The name of the weights that an outer optimizer updates. */
    String OUTER_WEIGHTS = "outer_weights";
    /** The name of the state of an outer optimizer with momentum. */
    String OUTER_MOMENTUM = "outer_momentum_buffer";
    /** The name of the last update of each weight, before error feedback. */
    String PREVIOUS_UPDATE = "previous_update";

    /** Returns the names of the state tensors of a parameter. */
    List<String> moments(ParameterSpec parameter);

    /** A rule that changes each element independently. */
    sealed interface OfElements extends Optimizer {
        /** Returns the names of the state tensors of each parameter. */
        List<String> moments();

        @Override
        default List<String> moments(ParameterSpec parameter) {
            return moments();
        }
    }

    /**
     * Loshchilov and Hutter 2019, as {@code torch.optim.AdamW}: two moments per weight.
     *
     * @param beta1 decay of the first moment
     * @param beta2 decay of the second moment
     * @param epsilon added to the root of the second moment
     */
    record AdamW(double beta1, double beta2, double epsilon, double weightDecay) implements OfElements {
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
        public List<String> moments() {
            return List.of("exp_avg", "exp_avg_sq");
        }
    }

    /**
     * Stochastic gradient descent, as {@code torch.optim.SGD} without dampening; with momentum one velocity per weight
     * (Sutskever et al. 2013).
     *
     * @param weightDecay decay, added to the gradient
     * @param momentum the share of the velocity that is kept; 0 for none
     * @param nesterov whether to use Nesterov momentum
     */
    record Sgd(double weightDecay, double momentum, boolean nesterov) implements OfElements {
        public Sgd {
            if (!(weightDecay >= 0)) {
                throw new IllegalArgumentException(
                        "the weight decay of SGD must be at least 0, but found " + weightDecay);
            }
            if (!(momentum >= 0 && momentum < 1)) {
                throw new IllegalArgumentException("the momentum of SGD must lie in [0, 1), but found " + momentum);
            }
            if (nesterov && momentum == 0) {
                throw new IllegalArgumentException("Nesterov's update needs a momentum above 0, but found 0");
            }
        }

        /** Creates SGD without momentum. */
        public Sgd(double weightDecay) {
            this(weightDecay, 0, false);
        }

        @Override
        public List<String> moments() {
            return momentum > 0 ? List.of(MOMENTUM) : List.of();
        }
    }

    /**
     * Jordan et al. 2024 for the matrices of hidden layers, AdamW for all other parameters. The update of a matrix is
     * Nesterov's momentum with singular values close to 1, by five Newton-Schulz steps, times
     * {@code 0.2 sqrt(max(rows, columns))}. Its elements have the size of AdamW's updates, so that one learning rate and one
     * decoupled decay fit both (Liu et al. 2025).
     *
     * @param momentum the share of a matrix's momentum that is kept
     * @param others the rule of all other parameters; its decay is the matrices' too
     */
    record Muon(double momentum, AdamW others) implements Optimizer {
        public Muon {
            if (!(momentum > 0 && momentum < 1)) {
                throw new IllegalArgumentException("the momentum of Muon must lie in (0, 1), but found " + momentum);
            }
        }

        @Override
        public List<String> moments(ParameterSpec parameter) {
            return parameter.isHiddenMatrix() ? List.of(MOMENTUM) : others.moments(parameter);
        }
    }

    /**
     * A rule with state in a store outside the memory of the engine.
     *
     * @param store of the rank; {@link StateStore#NOTHING} in a plan
     */
    record Stored(OfElements rule, StateStore store) implements Optimizer {
        @Override
        public List<String> moments(ParameterSpec parameter) {
            return rule.moments(parameter);
        }
    }

    /**
     * Replicas that train alone for some steps, and an outer Nesterov step after these (DiLoCo, Douillard et al. 2023,
     * algorithm 1). With D the outer weights minus the mean of the replicas' weights: {@code V = momentum V + D}, and the
     * outer weights change by {@code -learningRate (D + momentum V)}, as {@code torch.optim.SGD} with Nesterov momentum
     * does. Every replica continues from them. The state of the inner rule stays each replica's own.
     *
     * @param inner the rule of the steps in between
     * @param innerSteps H, the steps from one outer step to the next
     * @param learningRate the rate of the outer step; 1 without momentum is the mean of the replicas
     */
    record DiLoCo(Optimizer inner, int innerSteps, double learningRate, double momentum) implements Optimizer {
        public DiLoCo {
            if (innerSteps < 1 || !(learningRate > 0) || !(momentum >= 0 && momentum < 1)) {
                throw new IllegalArgumentException(
                        "DiLoCo needs at least 1 inner step, an outer learning rate above 0 and"
                                + " an outer momentum in [0, 1), but found " + innerSteps + ", " + learningRate
                                + " and "
                                + momentum);
            }
        }

        /** Returns whether an outer step follows the inner step of this number, from 0. */
        public boolean endsRound(long step) {
            return (step + 1) % innerSteps == 0;
        }

        /** Returns whether a moment is the outer optimizer's, and so the same on every replica. */
        public static boolean isOuter(String moment) {
            return moment.equals(OUTER_WEIGHTS) || moment.equals(OUTER_MOMENTUM);
        }

        @Override
        public List<String> moments(ParameterSpec parameter) {
            return Stream.concat(inner.moments(parameter).stream(),
                    momentum > 0 ? Stream.of(OUTER_WEIGHTS, OUTER_MOMENTUM) : Stream.of(OUTER_WEIGHTS)).toList();
        }
    }

    /**
     * A rule with error feedback for a delay of one update. An update u is one step late, since its gradient is of the
     * weights before the last update; the last step used its own update p instead of u. So the weights change by
     * {@code u + (u - p)}, which corrects the last step. The sum of all changes equals the sum of timely updates, except
     * that the newest update replaces the one not yet known.
     *
     * <p>Error feedback is known from rounded gradients (Seide et al. 2014), and Zmushko et al. 2026 apply it to gradients
     * one step old. The form is Troupe's own: it acts on the change of the weights, including decay and learning rate.
     *
     * @param rule the rule that makes the updates
     */
    record ErrorFeedback(Optimizer rule) implements Optimizer {
        public ErrorFeedback {
            if (rule instanceof ErrorFeedback) {
                throw new IllegalArgumentException("an update's error is fed back once");
            }
        }

        @Override
        public List<String> moments(ParameterSpec parameter) {
            return Stream.concat(rule.moments(parameter).stream(), Stream.of(PREVIOUS_UPDATE)).toList();
        }
    }
}
