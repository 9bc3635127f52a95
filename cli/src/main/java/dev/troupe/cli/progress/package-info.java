/**
 * A run as its user sees it: the summary before it starts, the progress line, the files of its directory, the trained
 * model at its end.
 */
package dev.troupe.cli.progress;
