/** The requests to stop a command, and its end: signals, the lines of a launcher, exit codes, standard error. */
package dev.troupe.cli.stop;
