package dev.troupe.bench.observe;

import java.util.List;

/** A kind of records of a run, with the methods that write them: left out, they return at once. */
enum Recorded {
    /** A digest of each output. */
    DIGESTS(List.of(new Method("dev.troupe.rank.bits.BitRecorder$Step", "record"),
            new Method("dev.troupe.rank.bits.BitRecorder", "read"),
            new Method("dev.troupe.engine.digest.BitHash", "of"),
            new Method("dev.troupe.rank.bits.BitRecorder", "takeFirst"),
            new Method("dev.troupe.rank.bits.BitRecorder", "takeWeights"),
            new Method("dev.troupe.rank.RankTelemetry", "report"))),
    /** The times of actions and messages. */
    TRACES(List.of(new Method("dev.troupe.rank.trace.RankTrace", "begins"),
            new Method("dev.troupe.rank.trace.RankTrace", "ended"),
            new Method("dev.troupe.rank.trace.RankTrace", "landed"),
            new Method("dev.troupe.rank.trace.RankTrace", "handed"),
            new Method("dev.troupe.rank.trace.RankTrace", "sent"),
            new Method("dev.troupe.rank.trace.RankTrace", "take"),
            new Method("dev.troupe.run.news.RunReports", "traced"),
            new Method("dev.troupe.rank.trace.FlightEvents", "step"))),
    /** Idle time by cause, and the files of steps; without traces there is none either. */
    STEPS(List.of(new Method("dev.troupe.look.output.StepRecords", "add"))),
    /** The thread that finds pauses of the process. */
    PAUSES(List.of(new Method("dev.troupe.rank.trace.Pauses", "look")));

    /** A method that returns nothing, a number, or an object that its callers pass on unseen. */
    record Method(String type, String name) {
    }

    private final List<Method> methods;

    Recorded(List<Method> methods) {
        this.methods = methods;
    }

    List<Method> methods() {
        return methods;
    }
}
