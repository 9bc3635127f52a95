package dev.troupe.protocol.run;

/** The number of parallel pipelines, and of ranks that share a stage. */
record Grid(int data, int tensor) {
    /** One pipeline, of a rank for each place. */
    static final Grid ONE = new Grid(1, 1);

    int ranksPerPlace() {
        return data * tensor;
    }
}
