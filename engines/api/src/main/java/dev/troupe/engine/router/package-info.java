/**
 * The kinds of routers: how a row of a mixture of experts chooses its experts, and with which weights. A new kind is a class
 * here; engines know the interface alone. May import the JDK and {@code dev.troupe.engine.random} only.
 */
package dev.troupe.engine.router;
