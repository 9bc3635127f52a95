/**
 * The plan of a run, decided or refused before anything starts: the certified plans with their partition, the limits of
 * sizes, the costs of an emulated engine, the faults that can strike.
 */
package dev.troupe.plan;
