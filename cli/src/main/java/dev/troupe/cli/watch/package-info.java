/** A run as a terminal shows it, and its meters. */
package dev.troupe.cli.watch;
