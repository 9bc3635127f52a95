/** Tests of the sentences on errors. */
package dev.troupe.plan.error;
