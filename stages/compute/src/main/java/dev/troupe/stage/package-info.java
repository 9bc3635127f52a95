/** A stage: its layers, the tapes of its microbatches, its state. Straight-line code: no actor, thread or clock in it. */
package dev.troupe.stage;
