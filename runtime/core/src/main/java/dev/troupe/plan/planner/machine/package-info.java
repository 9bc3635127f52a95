/** The searches around a planner: figures of machines by profiles, the order in which ranks fill machines, and rows. */
package dev.troupe.plan.planner.machine;
