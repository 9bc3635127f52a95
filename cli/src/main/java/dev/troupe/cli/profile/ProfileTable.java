package dev.troupe.cli.profile;

import dev.troupe.config.spec.ParallelSpec;
import dev.troupe.plan.profile.LayerSamples;
import dev.troupe.plan.profile.LayoutByCosts;
import dev.troupe.plan.profile.LinkSamples;
import dev.troupe.plan.profile.Profile;
import dev.troupe.plan.profile.StepInterval;
import dev.troupe.plan.profile.StepOverheads;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.search.Borders;
import dev.troupe.schedule.search.Candidate;
import dev.troupe.schedule.search.SimulatedPartition;
import dev.troupe.schedule.simulator.Hop;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** The tables of a profile for a person. */
final class ProfileTable {
    private static final List<Kind> COLUMNS = List.of(Kind.FORWARD, Kind.BACKWARD_INPUT, Kind.BACKWARD_WEIGHT,
            Kind.FULL_BACKWARD, Kind.UPDATE);

    private static final double LEVEL = 0.9;
    private static final int DRAWS = 200;

    private ProfileTable() {
    }

    /** Returns the times of each form of layer, and the ways between nodes. */
    static String of(Profile profile) {
        StringBuilder table = new StringBuilder(String.format(Locale.ROOT,
                "%s, %s, %d thread%s a rank, %d rank%s at once, %s, microbatches of %d x %d tokens%n%n",
                profile.setting().processor(), profile.setting().engine(), profile.setting().threads(),
                profile.setting().threads() == 1 ? "" : "s", profile.together(), profile.together() == 1 ? "" : "s",
                profile.setting().precision().toLowerCase(Locale.ROOT), profile.setting().microbatchSize(),
                profile.setting().sequenceLength()));
        table.append(String.format(Locale.ROOT, "%-20s %6s", "median ms (p10-p90)", "layers"));
        COLUMNS.forEach(kind -> table.append(String.format(Locale.ROOT, " %22s", kind == Kind.UPDATE
                ? "UPDATE"
                : kind.code())));
        table.append(String.format(Locale.ROOT, " %10s%n", "kept MiB"));
        for (String form : profile.layers().stream().distinct().toList()) {
            LayerSamples samples = profile.forms().get(form);
            table.append(String.format(Locale.ROOT, "%-20s %6d", form,
                    Collections.frequency(profile.layers(), form)));
            COLUMNS.forEach(kind -> table.append(String.format(Locale.ROOT, " %22s", String.format(Locale.ROOT,
                    "%.3f (%.3f-%.3f)", samples.quantile(kind, 0.5) / 1e6, samples.quantile(kind, 0.1) / 1e6,
                    samples.quantile(kind, 0.9) / 1e6))));
            table.append(String.format(Locale.ROOT, " %10.2f%n", samples.keptBytes() / 1048576.0));
        }
        StepOverheads overheads = profile.overheads();
        if (!overheads.equals(StepOverheads.NONE)) {
            table.append(String.format(Locale.ROOT,
                    "%nin a run: actions take %.2f times as long, %.3f ms between two, %.3f ms for a message, %.3f ms a step"
                            + " outside them%n",
                    overheads.actionFactor(), overheads.control() / 1e6, overheads.hop() / 1e6,
                    overheads.once() / 1e6));
        }
        for (LinkSamples link : profile.links()) {
            table.append(
                    String.format(Locale.ROOT, "%n%s -> %s: %.3f ms, %.1f MB/s in messages of %.1f KiB", link.from(),
                            link.to(), link.hop().latencyNanos() / 1e6, link.hop().bytesPerSecond() / 1e6,
                            link.messageBytes() / 1024.0));
        }
        return table.append(profile.links().isEmpty() ? "" : System.lineSeparator()).toString();
    }

    /** Returns the predicted step of the best cut; messages and the end of a step take no time in it. */
    static String step(Profile profile, ParallelSpec parallel, int microbatches) {
        if (parallel.pipeline() == 1 || parallel.pipeline() * parallel.virtualStages() > profile.layers().size()) {
            return "";
        }
        Plan plan = Schedules.named(parallel.schedule()).plan(parallel.pipeline(), parallel.virtualStages(),
                microbatches);
        Candidate best = new SimulatedPartition(LayoutByCosts.onEqualMachines(profile.units(), plan.rankCount(),
                Hop.FREE)).refine(new Candidate(plan, Borders.uniform(profile.layers().size(), plan.stageCount())));
        StepInterval interval = StepInterval.of(profile, drawn -> LayoutByCosts
                .onEqualMachines(drawn.units(), plan.rankCount(), Hop.FREE).stepNanos(best), LEVEL, DRAWS, 0);
        return String.format(Locale.ROOT, "%s on %d ranks, %d microbatches: stages of %s layers take %.1f ms a step"
                + " without messages and update (%.1f to %.1f in %d %% of the draws from the samples).%n",
                parallel.schedule(), plan.rankCount(), microbatches, best.borders().sizes(), interval.nanos() / 1e6,
                interval.lowNanos() / 1e6, interval.highNanos() / 1e6, Math.round(100 * LEVEL));
    }
}
