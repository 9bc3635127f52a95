/**
 * The frames of the tensor transport, as bytes: a writer, and a reader that trusts nothing. Plain classes without Aeron, so
 * that tests can feed them any bytes.
 */
package dev.troupe.transport.frame;
