/**
 * How weights are updated: optimizers with their state, and learning rates.
 */
package dev.troupe.optimizer;
