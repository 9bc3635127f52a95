package dev.troupe.plan.error;

import dev.troupe.config.group.LayoutException;
import dev.troupe.config.problem.ConfigException;
import dev.troupe.data.DataException;
import dev.troupe.plan.StartException;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.checkpoint.CheckpointException;
import dev.troupe.schedule.PlanException;
import dev.troupe.tokenizer.file.TokenizerException;
import dev.troupe.transport.TransportException;
import dev.troupe.weights.WeightException;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.Optional;

/** The exceptions with a sentence for the user on a wrong request. */
public final class UserErrors {
    private UserErrors() {
    }

    /**
     * Returns the exception to throw after a failed start of actors: one with a sentence for the user unchanged, any other
     * as a {@link StartException}. Scala code may throw undeclared checked exceptions, so the caller has to catch Exception.
     *
     * @param who the owner of the actors, such as "node b"
     */
    public static RuntimeException ofStart(String who, Throwable failure) {
        switch (failure) {
            case Error error -> throw error;
            case RuntimeException refused when sentenceOf(refused).isPresent() -> {
                return refused;
            }
            case InterruptedException _ -> Thread.currentThread().interrupt();
            default -> {
            }
        }
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        return new StartException(String.format(Locale.ROOT,
                "the actors of %s did not start: %s; the machine has a load of %.0f on %d cores, so if it is"
                        + " overloaded, start again when it is less busy",
                who, Reason.of(failure), load, Runtime.getRuntime().availableProcessors()), failure);
    }

    /** Returns the sentence for the user; empty if the exception is a defect of Troupe. */
    public static Optional<String> sentenceOf(RuntimeException failure) {
        return switch (failure) {
            case PlanException plan -> Optional.of(plan.getMessage());
            case ConfigException _,LayoutException _,DataException _,TokenizerException _,WeightException _,CheckpointException _,TransportException _,UsageException _,StartException _ ->
                Optional.of(failure.getMessage());
            default -> Optional.empty();
        };
    }
}
