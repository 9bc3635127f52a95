/** Stages compared with PyTorch and with each other, on the reference engine. */
package dev.troupe.stage;
