/** Mixtures of experts, and their routers. */
package dev.troupe.layer.experts;
