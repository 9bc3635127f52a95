/**
 * The sequences of each step: which they are, in which order, and what of them counts in the loss.
 */
package dev.troupe.batch;
