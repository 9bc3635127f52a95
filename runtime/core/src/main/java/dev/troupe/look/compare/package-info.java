/**
 * Experiments that compare schedules: each one predicted by the simulator and measured by a traced run, on the same model
 * and data.
 */
package dev.troupe.look.compare;
