/**
 * The search for the layout of a run on given machines under a memory budget. Its oracle is the preparation of a run
 * itself: each candidate is lowered, certified, sized and simulated, and nothing is started.
 */
package dev.troupe.plan.planner;
