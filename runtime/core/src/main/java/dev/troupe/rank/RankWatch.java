package dev.troupe.rank;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.plan.step.StepHook;
import dev.troupe.plan.step.StepWatch;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.rank.Outbox;
import dev.troupe.rank.bits.BitRecorder;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.stage.Stage;

/**
 * The records of a rank's results: digests of tensors, the gradients of a step in a file, and the snapshots from which
 * stages restart. Thread rule: the rank's thread.
 */
record RankWatch(int rank, NodeContext node, Engine engine, Outbox<Tensor> outbox, BitRecorder bits, StepHook hook)
        implements
            StepWatch {
    @Override
    public void enters(int stepInRow) {
        bits.enter(stepInRow);
    }

    @Override
    public void received(Stage stage, Action receive, Pass pass, Tensor tensor) {
        if (pass.kind() == Pass.Kind.VALIDATION) {
            return;
        }
        if (receive.kind() == Kind.RECV_F) {
            bits.receivedActivation(stage, receive.microbatch(), tensor);
        } else {
            bits.receivedGradient(stage, receive.microbatch(), tensor);
        }
    }

    @Override
    public void measuredLoss(Stage stage, int microbatch, double loss) {
        bits.loss(stage, microbatch, loss);
    }

    @Override
    public void finalGradients(Stage stage, Pass pass) {
        bits.finalGradients(stage);
        node.gradientDump().filter(dump -> dump.wants(pass.step()))
                .ifPresent(dump -> dump.add(rank, stage.index(), StageWorker.parts(engine, stage.gradients())));
    }

    @Override
    public void updated(Stage stage) {
        bits.weights(stage);
    }

    /** Keeps a snapshot, unless the rank was given up: its successor may have started from the previous snapshot. */
    @Override
    public void ended(Stage stage, Pass pass) {
        if (!node.plan().rows().overlap()) {
            bits.weights(stage); // else reported by updated
        }
        long stepsDone = pass.step() + 1;
        if (node.recovery().snapshots().isPresent() && !outbox.isRetired() && hook.keeps(stage.index(), pass.step())) {
            node.recovery().snapshots().get().keep(rank, stage.index(), stepsDone, engine, stage.state());
            node.recovery().copies().kept(rank, stage.index(), stepsDone);
        }
    }
}
