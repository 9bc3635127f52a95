/** Models of checkpoints for other programs, with the files that belong to them. */
package dev.troupe.look.publish;
