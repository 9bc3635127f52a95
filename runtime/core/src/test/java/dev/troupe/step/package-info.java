/** Tests of {@link dev.troupe.step}. */
package dev.troupe.step;
