/**
 * How a run can be watched beside its page: on the screen of a terminal, and by its meters.
 */
package dev.troupe.cli.watch;
