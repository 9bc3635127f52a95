/** Tests of {@link dev.troupe.transport.tcp}. */
package dev.troupe.transport.tcp;
