/** The memory of a run, known before it starts: a walk of its rows with its stages, on an engine that counts bytes. */
package dev.troupe.plan.memory;
