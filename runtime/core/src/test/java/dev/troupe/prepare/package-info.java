/** Tests of {@link dev.troupe.prepare}. */
package dev.troupe.prepare;
