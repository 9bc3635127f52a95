/**
 * The pure machine of a rank, which walks its row, and the outbox, which logs and sends its messages. {@link StepOps} is
 * what the actions of a row mean.
 */
package dev.troupe.protocol.rank;
