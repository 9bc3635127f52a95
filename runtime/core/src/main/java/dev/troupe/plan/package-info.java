/**
 * The plan of a run, before anything starts: certified plans with their partition, limits of sizes, costs of an emulated
 * engine, possible faults.
 */
package dev.troupe.plan;
