/** The update of weights: the learning rate of a step, the optimizer, the scale of the loss. */
package dev.troupe.config.spec.update;
