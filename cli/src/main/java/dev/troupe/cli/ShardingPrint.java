package dev.troupe.cli;

import dev.troupe.config.RunSpec;
import dev.troupe.config.spec.ParallelSpec;
import dev.troupe.parallel.ShardingMove;
import dev.troupe.plan.prepare.RunSharding;
import dev.troupe.plan.prepare.WholeModel;
import dev.troupe.sharding.MeshAxis;
import dev.troupe.sharding.PlanLine;
import dev.troupe.sharding.ShardingCheck;
import dev.troupe.sharding.ShardingText;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The sharding plan of a run as text, with what each move sends; {@code parallel.sharding} reads it again. */
final class ShardingPrint {
    private ShardingPrint() {
    }

    static String of(RunSpec spec) {
        try (WholeModel whole = WholeModel.of(spec, Optional.empty())) {
            int length = whole.start().sequenceLength();
            RunSharding sharding = RunSharding.of(spec, whole.start().model(), length);
            ParallelSpec parallel = spec.parallel();
            Map<PlanLine, ShardingCheck.Sent> sent = new HashMap<>();
            sharding.checked().sent().forEach(one -> sent.putIfAbsent(one.line(), one));
            return String.format(Locale.ROOT,
                    "# %s%n# parallel.tensor = %d, data = %d, expert = %d; a microbatch of %,d"
                            + " rows%n# Each rank sends %,d numbers a microbatch on the axis tensor, recomputation apart.%n",
                    whole.start().model().summary(), parallel.tensor(), parallel.data(), parallel.expert(),
                    spec.training().microbatchSize() * length, sharding.checked().elements())
                    + ShardingText.of(sharding.plan(), line -> Optional.ofNullable(sent.get(line))
                            .map(ShardingPrint::comment));
        }
    }

    private static String comment(ShardingCheck.Sent sent) {
        ShardingMove move = sent.line().move();
        if (sent.line().axis() == MeshAxis.EXPERT) {
            return "all-to-all: the rows of the choices, forward and backward";
        }
        if (sent.isLoss()) {
            return String.format(Locale.ROOT, "3 all-reduces of a number for each row: %,d", sent.both());
        }
        return String.format(Locale.ROOT, "%s, backward %s: %,d", move.collective().word(),
                move.dual().collective().word(), sent.both());
    }
}
