package dev.troupe.run;

import dev.troupe.checkpoint.Checkpoint;
import dev.troupe.config.RunSpec;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a user asked for.
 *
 * @param spec
 *            the validated configuration
 * @param builtInCorpus
 *            UTF-8 text to train on where the configuration names none
 * @param output
 *            the run's directory
 * @param resume
 *            the run, or the checkpoint, to go on from
 * @param gradientsOf
 *            the step, from 0, whose gradients are to be written to a file
 * @param trace
 *            keeps what is computed when; a run that is traced is an experiment and leaves no checkpoint
 */
public record RunRequest(RunSpec spec, byte[] builtInCorpus, Path output, Optional<Path> resume,
        OptionalLong gradientsOf, Optional<ActionTrace> trace) {
    /** A request for a run that is not traced. */
    public RunRequest(RunSpec spec, byte[] builtInCorpus, Path output, Optional<Path> resume,
            OptionalLong gradientsOf) {
        this(spec, builtInCorpus, output, resume, gradientsOf, Optional.empty());
    }

    /** Whether the run goes on in the directory it resumes from, be it named itself or by one of its checkpoints. */
    public boolean continuesInPlace() {
        return resume.isPresent()
                && Checkpoint.runDirectoryOf(resume.get()).equals(output.toAbsolutePath().normalize());
    }
}
