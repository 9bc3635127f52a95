/**
 * From a configuration to a run that can start, in stages. Each stage is an immutable value that one step computes from the
 * stage before: a request ({@link RunRequest}), its engine, model and data ({@link OpenedRun}), its plan
 * ({@link PlannedRun}), the memory of its ranks ({@link SizedRun}), and a run that is ready ({@link PreparedRun}). A planner
 * stops after the memory.
 */
package dev.troupe.plan.prepare;
