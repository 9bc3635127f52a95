/** An engine without kernels, which falls back for all of them. */
package dev.troupe.engine.bare;
