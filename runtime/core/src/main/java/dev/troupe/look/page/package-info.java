/**
 * A run over HTTP, from the files in its directory, and the page for a browser. It shows progress and steps, the cause of a
 * slow step, a comparison with another run, and the simulation of a changed plan.
 */
package dev.troupe.look.page;
