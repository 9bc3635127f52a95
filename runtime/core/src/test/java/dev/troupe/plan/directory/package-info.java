/** Tests of {@link dev.troupe.plan.directory}. */
package dev.troupe.plan.directory;
