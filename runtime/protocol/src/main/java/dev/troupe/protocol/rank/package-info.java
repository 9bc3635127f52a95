/**
 * The pure machine of a rank, which walks its row, and the outbox, which logs and sends its messages. {@link StepOps} is the
 * meaning of the actions of a row.
 */
package dev.troupe.protocol.rank;
