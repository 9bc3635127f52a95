package dev.troupe.protocol.run;

/** A possible next event in a {@link Simulation}. */
record Move(String name, Runnable make) {
    @Override
    public String toString() {
        return name;
    }
}
