/** The certificate: the proof of a plan before it runs, and the refusal of a plan without one. */
package dev.troupe.schedule.certificate;
