package dev.troupe.prepare;

import dev.troupe.checkpoint.Checkpoint;
import dev.troupe.config.RunSpec;
import dev.troupe.observe.ActionTrace;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;

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
 *            keeps what is computed when, in every step; a run that is traced so is an experiment and leaves no checkpoint
 * @param share
 *            what of the run this process has, where it is one of several
 */
public record RunRequest(RunSpec spec, byte[] builtInCorpus, Path output, Optional<Path> resume,
        OptionalLong gradientsOf, Optional<ActionTrace> trace, Optional<Share> share) {
    /**
     * One process's part of a run.
     *
     * @param ranksOfMachine
     *            the ranks for which this machine has memory and cores to give
     * @param ranksCopiedHere
     *            the ranks of whose snapshots this machine has copies, if there are any
     * @param leads
     *            whether the run's directory is this process's to make
     */
    public record Share(List<Integer> ranksOfMachine, List<Integer> ranksCopiedHere, boolean leads) {
        public Share {
            ranksOfMachine = List.copyOf(ranksOfMachine);
            ranksCopiedHere = List.copyOf(ranksCopiedHere);
        }
    }

    /** A request for a run in this process alone that is not traced. */
    public RunRequest(RunSpec spec, byte[] builtInCorpus, Path output, Optional<Path> resume,
            OptionalLong gradientsOf) {
        this(spec, builtInCorpus, output, resume, gradientsOf, Optional.empty(), Optional.empty());
    }

    /** The ranks for which this machine has memory and cores to give. */
    List<Integer> ranksOfMachine() {
        return share.map(Share::ranksOfMachine)
                .orElseGet(() -> IntStream.range(0, spec.parallel().worldSize()).boxed().toList());
    }

    /** The ranks of other nodes, of whose snapshots nodes of this machine have copies. */
    List<Integer> ranksCopiedHere() {
        return share.map(Share::ranksCopiedHere).orElse(List.of());
    }

    /** Whether the run's directory is this process's to make. */
    boolean leads() {
        return share.isEmpty() || share.get().leads();
    }

    /** Whether the run goes on in the directory it resumes from, be it named itself or by one of its checkpoints. */
    public boolean continuesInPlace() {
        return resume.isPresent()
                && Checkpoint.runDirectoryOf(resume.get()).equals(output.toAbsolutePath().normalize());
    }
}
