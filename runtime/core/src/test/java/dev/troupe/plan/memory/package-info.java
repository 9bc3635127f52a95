/** Tests of {@link dev.troupe.plan.memory}. */
package dev.troupe.plan.memory;
