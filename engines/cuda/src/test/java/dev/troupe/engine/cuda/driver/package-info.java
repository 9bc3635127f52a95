/** Tests of the binding to NVIDIA's driver and of its clock. */
package dev.troupe.engine.cuda.driver;
