/** Tests of {@link dev.troupe.membership}, and its simulation. */
package dev.troupe.membership;
