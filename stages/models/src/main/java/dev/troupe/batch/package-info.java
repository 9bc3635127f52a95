/** The sequences of each step, their order, and the targets that count in the loss. */
package dev.troupe.batch;
