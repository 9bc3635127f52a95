/** Tests of {@link dev.troupe.liveness}. */
package dev.troupe.liveness;
