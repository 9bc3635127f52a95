/** Tests of {@link dev.troupe.plan}. */
package dev.troupe.plan;
