/** The machines of a plan: their figures by profiles, and the order in which ranks fill them. */
package dev.troupe.plan.planner.machine;
