/** Tests of the engine that runs another late. */
package dev.troupe.engine.late;
