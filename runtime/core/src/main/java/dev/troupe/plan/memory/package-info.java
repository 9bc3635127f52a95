/** The memory of a run, known before it starts: its rows with its stages, on an engine that counts bytes. */
package dev.troupe.plan.memory;
