/**
 * The machine of a rank, which walks its row, and the outbox, which logs and sends its messages. {@link StepOps} defines the
 * meaning of a row's actions.
 */
package dev.troupe.protocol.rank;
