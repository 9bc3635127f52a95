/** The command that serves the page of a run. */
package dev.troupe.cli.page;
