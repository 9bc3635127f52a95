/** Tests of {@link dev.troupe.lifeline}. */
package dev.troupe.lifeline;
