/**
 * What a run will do, decided and refused before anything starts: the certified plans with their partition, the limits of
 * sizes, the costs of an emulated engine, the faults that can strike.
 */
package dev.troupe.plan;
