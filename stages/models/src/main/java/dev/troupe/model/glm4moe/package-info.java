/** The family of GLM-4.5: what it has under its own names. May import {@code dev.troupe.model} and its parts. */
package dev.troupe.model.glm4moe;
