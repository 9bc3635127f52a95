/** Tests of {@link dev.troupe.protocol.membership}, and its simulation. */
package dev.troupe.protocol.membership;
