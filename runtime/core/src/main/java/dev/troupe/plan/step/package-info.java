/**
 * The actions of a row on a stage and its engine, and the interface of a rank for its stages. This package knows no actors,
 * threads of the transport, or other processes.
 */
package dev.troupe.plan.step;
