/** The errors of a run with their sentences for the user: of a request, of an actor, of an injected fault. */
package dev.troupe.plan.error;
