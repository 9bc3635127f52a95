/** Where NVIDIA's driver is looked for, and its clock. */
package dev.troupe.engine.cuda.driver;
