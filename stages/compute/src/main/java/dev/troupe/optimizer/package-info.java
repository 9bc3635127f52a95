/** The update of weights: optimizers with their state, and learning rates. */
package dev.troupe.optimizer;
