/**
 * The search for plans: partitions of a model, strategies of its layers, placements and rows, over costs alone. Each
 * algorithm is a file with its source. What it finds is measured by the simulator and proven by a certificate, as any other
 * plan is.
 */
package dev.troupe.schedule.search;
