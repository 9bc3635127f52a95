package dev.troupe.protocol.run;

/** Something that may happen next in a {@link Simulation}. */
record Move(String name, Runnable make) {
    @Override
    public String toString() {
        return name;
    }
}
