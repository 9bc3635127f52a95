package dev.troupe.run.news;

import dev.troupe.model.ModelSpec;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.protocol.watch.LossWatch;
import dev.troupe.protocol.watch.Notice;
import dev.troupe.rank.bits.BitKey;
import dev.troupe.rank.bits.OutputPlace;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The detector of spikes in a run's loss, which names the model's layer and the data of a spike. Thread rule: the
 * coordinator's thread.
 */
public final class LossSpikes {
    private final TrainingPlan plan;
    private final LossWatch watch = new LossWatch();

    public LossSpikes(TrainingPlan plan) {
        this.plan = plan;
    }

    void measured(RunEvent.PassDone done) {
        if (done.pass().kind() == Pass.Kind.TRAINING) {
            watch.measured(done.pass().step(), done.from().rank(), done.losses(), done.squaredSums());
        }
    }

    /** Handles a committed step; returns a notice if its loss is a spike. */
    Optional<Notice> onStep(StepResult result, int epoch, OutputPlace places) {
        return watch.onStep(result).map(spike -> notice(result.step(), epoch, spike, places));
    }

    private Notice notice(long step, int epoch, LossWatch.Spike spike, OutputPlace places) {
        ModelSpec model = plan.model();
        BitKey head = new BitKey(BitKey.What.ACTIVATION, spike.microbatch(), model.layers().size() - 1, "", BitKey.NONE,
                0);
        int layer = IntStream.range(0, model.layers().size())
                .filter(index -> model.blockNumber(index) == spike.block()).findFirst().orElseThrow();
        int stage = plan.partition().stageOf(layer);
        return new Notice(Notice.Kind.LOSS_SPIKE, step + 1, epoch, "", List.of(), List.of(stage),
                spike.loss() / spike.usual(),
                String.format(Locale.ROOT, "the loss of step %d is %.4g, the median of the steps before it %.4g: it is"
                        + " highest, %.4g, in %s; the gradient of %s on stage %d has grown most, to %.3g times its usual"
                        + " norm", step, spike.loss(), spike.usual(), spike.highest(), places.words(step, head),
                        model.layers().get(layer).block(), stage, spike.growth()));
    }
}
