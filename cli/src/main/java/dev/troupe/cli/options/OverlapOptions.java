package dev.troupe.cli.options;

import dev.troupe.plan.UsageException;
import dev.troupe.schedule.family.OverlappingRule;
import dev.troupe.schedule.family.PipeDream;
import dev.troupe.schedule.family.PipeDream2Bw;
import dev.troupe.schedule.family.PipeDream2Bw.Updates;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/** The options of a schedule with overlapping steps: the number of drawn steps, and the places of updates and forwards. */
public final class OverlapOptions {
    /** The places of updates as the command line names them. */
    private enum Place {
        lazy, eager
    }

    @Option(names = "--steps", paramLabel = "T", description = {
            "Steps to draw of a schedule with overlapping steps. Default: 4, and for steps of one microbatch 3 P."})
    private Integer steps;

    @Option(names = "--updates", paramLabel = "PLACE", description = {
            "${COMPLETION-CANDIDATES}: the place of an update of pipedream-2bw, before the first forward that reads it, or after the last backward of its step. Default: lazy."})
    private Place updates;

    @Option(names = "--warm-up", paramLabel = "N", description = {
            "Forwards of the warm-up of pipedream-2bw for each rank that follows: 1, or 2 to hide slow messages. Default: 1."})
    private Integer warmUp;

    @Option(names = "--replicas", paramLabel = "R", split = ",", description = {
            "Ranks of each stage of pipedream, first to last, such as 2,1: microbatch k is done on replica k mod R. Default: one each."})
    private List<Integer> replicas;

    /** Returns the number of stages by the list of replicas; empty if there is none. */
    public OptionalInt stages() {
        return replicas == null ? OptionalInt.empty() : OptionalInt.of(replicas.size());
    }

    public int steps(OverlappingRule rule, int pipeline) {
        return steps == null ? rule.drawnSteps(pipeline) : steps;
    }

    public OverlappingRule rule(String schedule) {
        if (!schedule.equals(PipeDream2Bw.NAME) && (updates != null || warmUp != null)) {
            throw new UsageException("--updates and --warm-up are for " + PipeDream2Bw.NAME + ", but " + schedule
                    + " updates after each backward and warms up with one forward for each following rank: leave them"
                    + " out");
        }
        return OverlappingRule.named(schedule, updates == Place.eager ? Updates.EAGER : Updates.LAZY,
                warmUp == null ? 1 : warmUp, replicas == null ? List.of() : replicas);
    }

    public void requireNone(String schedule) {
        if (replicas != null) {
            throw new UsageException("--replicas are for " + PipeDream.STASHING + ", but " + schedule
                    + " has one rank for each of its stages: leave them out, or take " + PipeDream.STASHING);
        }
        if (Stream.of(steps, updates, warmUp).anyMatch(Objects::nonNull)) {
            throw new UsageException("--steps, --updates and --warm-up are for schedules with overlapping steps, but "
                    + schedule + " draws one step or what its file has: leave them out, or take " + PipeDream2Bw.NAME);
        }
    }
}
