/** Tests of {@link dev.troupe.plan.prepare}. */
package dev.troupe.plan.prepare;
