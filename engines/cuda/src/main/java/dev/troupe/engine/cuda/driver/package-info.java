/** NVIDIA's driver as a {@link dev.troupe.engine.cuda.device.Device}, by the foreign function API and no other library. */
package dev.troupe.engine.cuda.driver;
