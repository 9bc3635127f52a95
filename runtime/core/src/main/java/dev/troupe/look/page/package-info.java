/**
 * A run over HTTP, from the files in its directory: its progress and steps, the cause of a slow step, a comparison with
 * another run, and the simulation of its plan with a change; and the page for a browser that shows them.
 */
package dev.troupe.look.page;
