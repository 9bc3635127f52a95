/** Tests of faults on purpose. */
package dev.troupe.fault;
