/** Tests of {@link dev.troupe.bits}. */
package dev.troupe.bits;
