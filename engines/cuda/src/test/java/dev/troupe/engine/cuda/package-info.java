/** Tests of the engine on an interpreter of its kernels. */
package dev.troupe.engine.cuda;
