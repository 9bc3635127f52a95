/**
 * The interface of schedules, and their common parts: builders of rows, checks of sizes, rounds over virtual stages,
 * repeated blocks.
 */
package dev.troupe.schedule.builder;
