/** Costs of the layers of a model, measured or given, and the stages that follow from them. */
package dev.troupe.plan.profile;
