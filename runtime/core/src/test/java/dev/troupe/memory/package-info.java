/** Tests of {@link dev.troupe.memory}. */
package dev.troupe.memory;
