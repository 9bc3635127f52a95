package dev.troupe.prepare;

import dev.troupe.checkpoint.CheckpointException;
import dev.troupe.config.group.LayoutException;
import dev.troupe.config.problem.ConfigException;
import dev.troupe.data.DataException;
import dev.troupe.plan.UsageException;
import dev.troupe.schedule.PlanException;
import dev.troupe.tokenizer.file.TokenizerException;
import dev.troupe.transport.TransportException;
import dev.troupe.weights.WeightException;
import java.util.Optional;

/** The exceptions that tell the user, in a sentence, that a request was wrong. */
public final class UserErrors {
    private UserErrors() {
    }

    /** Returns the sentence for the user; empty where the exception is a defect of Troupe. */
    public static Optional<String> sentenceOf(RuntimeException failure) {
        return switch (failure) {
            case PlanException plan -> Optional.of(plan.getMessage());
            case ConfigException _,LayoutException _,DataException _,TokenizerException _,WeightException _,CheckpointException _,TransportException _,UsageException _,StartException _ ->
                Optional.of(failure.getMessage());
            default -> Optional.empty();
        };
    }
}
