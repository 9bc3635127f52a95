package dev.troupe;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * The result of a run that reached its last step or was stopped.
 *
 * @param directory directory of the run, with {@code config.conf}, {@code metrics.jsonl}, {@code events.jsonl}
 * @param engine the kind of the engine that computed in this process, as {@code engine.kind} names it; if that is
 *     {@code auto}, the one that was taken
 * @param model the trained model in Hugging Face layout; empty for an engine that computes nothing, for a run that was
 *     stopped before a checkpoint of its last step, and on a node without the coordinator
 * @param checkpoints the checkpoints in the directory, the newest first
 * @param stepsDone steps done since the beginning of the run, those before a resumption included
 * @param losses loss of each step that this call trained and reported, in order
 * @param validationLoss the newest validation loss; empty if it is not measured
 * @param wasStopped whether the run was stopped before its last step
 */
public record TrainingResult(Path directory, String engine, Optional<Path> model, List<Path> checkpoints,
        long stepsDone,
        List<Double> losses, OptionalDouble validationLoss, boolean wasStopped) {
    public TrainingResult {
        checkpoints = List.copyOf(checkpoints);
        losses = List.copyOf(losses);
    }
}
