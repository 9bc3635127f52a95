/** Tests of {@link dev.troupe.observe}. */
package dev.troupe.observe;
