/**
 * Models of checkpoints for other programs, and the files that they are published with.
 */
package dev.troupe.publish;
