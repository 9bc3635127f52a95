package dev.troupe.engine.provider;

import java.util.OptionalInt;

/**
 * The device of an engine among those of its machine. Engines that have no devices to choose among do not ask.
 *
 * @param ordinal the device that the configuration names, from 0; empty: the engines of a machine take turns
 * @param turn the number of the engine among those of the machine, from 0
 */
public record DevicePick(OptionalInt ordinal, int turn) {
    /** The first of the engines that take turns. */
    public static final DevicePick FIRST = new DevicePick(OptionalInt.empty(), 0);

    public DevicePick {
        if (turn < 0 || ordinal.isPresent() && ordinal.getAsInt() < 0) {
            throw new IllegalArgumentException(
                    "devices and turns are numbered from 0, but found " + ordinal + " and " + turn);
        }
    }
}
