package dev.troupe.engine.provider;

import java.util.OptionalInt;

/**
 * The choice of an engine's device on its machine; unused by engines without devices.
 *
 * @param ordinal the device that the configuration names, from 0; empty to assign devices in rotation
 * @param turn the index of the engine on its machine, from 0, for the rotation
 */
public record DevicePick(OptionalInt ordinal, int turn) {
    public static final DevicePick FIRST = new DevicePick(OptionalInt.empty(), 0);

    public DevicePick {
        if (turn < 0 || ordinal.isPresent() && ordinal.getAsInt() < 0) {
            throw new IllegalArgumentException(
                    "devices and turns are numbered from 0, but found " + ordinal + " and " + turn);
        }
    }
}
