/** Tests of the search for layouts. */
package dev.troupe.plan.planner;
