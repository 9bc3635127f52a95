/** The logic of checkpoints: when one is due, and a pure state machine from the attempt to the manifest. */
package dev.troupe.protocol.checkpoint;
