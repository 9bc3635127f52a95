/** Where NVIDIA's libraries are looked for. */
package dev.troupe.engine.cuda.driver;
