/**
 * From a configuration to a run, an evaluation or a generation that can start: engine, starting point, data, memory
 * of the machine, the directory of the run and its lock.
 */
package dev.troupe.plan.prepare;
