package dev.troupe.plan.checkpoint;

import dev.troupe.config.RunSpec;
import dev.troupe.config.spec.DataSpec;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.tokenizer.ByteTokenizer;
import dev.troupe.tokenizer.Gpt2Tokenizer;
import dev.troupe.tokenizer.HuggingFaceTokenizer;
import dev.troupe.tokenizer.Tokenizer;
import dev.troupe.weights.huggingface.CompanionFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * The files that a run's model is published with: its tokenizer, and other files of the model that it began from. A run
 * copies them into its directory when it begins, so that their source may be deleted. Thread rule: any thread.
 *
 * @param tokenizer the directory with the tokenizer of the run's tokens; empty if no directory has it
 * @param isOfBytes whether each token is a byte, so that the files can be generated
 * @param model the directory of the model that the run began from
 */
public record RunCompanions(Optional<Path> tokenizer, boolean isOfBytes, Optional<Path> model) {
    public static final String FOLDER = "tokenizer";

    /**
     * The companions in a run directory.
     *
     * @param directory the directory to copy them from; empty if there are none
     * @param notice the reason why there are no files of a tokenizer, as a part of a sentence; empty if there are some
     */
    public record Found(Optional<Path> directory, Optional<String> notice) {
        /** Returns the notice as a sentence on a model that was written. */
        public Optional<String> sentence() {
            return notice.map(why -> "The model has no tokenizer files next to it: " + why + ".");
        }
    }

    /**
     * Finds the companions of a run.
     *
     * @param ofText the tokenizer of the run's text; empty if the data are tokens
     * @param resumed the run or checkpoint from which it resumes; its companions are used if their source was deleted
     * @throws dev.troupe.weights.WeightException if a file is too large to be copied
     */
    public static RunCompanions of(RunSpec spec, ModelSpec trained, Optional<Tokenizer> ofText,
            Optional<Path> resumed) {
        Optional<Path> former = resumed.map(from -> Checkpoint.runDirectoryOf(from).resolve(FOLDER))
                .filter(Files::isDirectory);
        Optional<Path> model = spec.model().directory()
                .flatMap(from -> Optional.of(from).filter(Files::isDirectory).or(() -> former));
        boolean isOfBytes = ofText.filter(ByteTokenizer.class::isInstance).isPresent();
        boolean knowsBytes = isOfBytes && ofText.get().vocabularySize() == trained.size(Axis.VOCABULARY);
        // If the data are tokens, the base model's tokenizer made them. If they are bytes, the base model's files fit only a
        // model that knows more than bytes.
        Optional<Path> tokenizer = ofText.isEmpty()
                ? model.filter(CompanionFiles::hasTokenizer)
                : ofText.flatMap(RunCompanions::directory);
        tokenizer.ifPresent(CompanionFiles::in);
        model.ifPresent(CompanionFiles::in);
        return new RunCompanions(tokenizer, knowsBytes, model);
    }

    private static Optional<Path> directory(Tokenizer tokenizer) {
        return switch (tokenizer) {
            case HuggingFaceTokenizer files -> Optional.of(files.directory());
            case ByteTokenizer _,Gpt2Tokenizer _ -> Optional.empty();
        };
    }

    /**
     * Copies the files into the directory of the run.
     *
     * @throws dev.troupe.weights.WeightException if one cannot be copied
     */
    public void writeTo(Path runDirectory) {
        Path folder = runDirectory.resolve(FOLDER);
        model.ifPresent(from -> CompanionFiles.copyModel(from, folder));
        tokenizer.ifPresent(from -> CompanionFiles.copyTokenizer(from, folder));
        if (isOfBytes) {
            try {
                Files.createDirectories(folder);
                for (Map.Entry<String, String> file : ByteTokenizer.files().entrySet()) {
                    Files.writeString(folder.resolve(file.getKey()), file.getValue());
                }
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }
    }

    /**
     * Finds the companions in the directory of a run; if it has no tokenizer, in the directory that its configuration names.
     */
    public static Found in(Path runDirectory) {
        Path folder = runDirectory.resolve(FOLDER);
        if (CompanionFiles.hasTokenizer(folder)) {
            return new Found(Optional.of(folder), Optional.empty());
        }
        Optional<Path> others = Optional.of(folder).filter(Files::isDirectory);
        RunConfig config = RunConfig.in(runDirectory);
        String word = config.text("data.tokenizer");
        if (word.equals(DataSpec.GPT2)) {
            return new Found(others,
                    Optional.of("data.tokenizer = gpt2 has no files here; the files of the published GPT-2"
                            + " make the same tokens"));
        }
        String from = word.isEmpty() || word.equals(DataSpec.BYTES) ? config.text("model.from") : word;
        if (from.isEmpty()) {
            return new Found(others, Optional.of("the run in " + runDirectory
                    + " knows no tokenizer of which there are files"));
        }
        if (!Files.isDirectory(Path.of(from))) {
            return new Found(others, Optional.of(from + ", from which the run began, is gone"));
        }
        if (!CompanionFiles.hasTokenizer(Path.of(from))) {
            return new Found(others, Optional.of(from + ", from which the run began, has none"));
        }
        // A run copies the files that make its tokens when it begins.
        return word.equals(DataSpec.BYTES) && others.isPresent()
                ? new Found(others,
                        Optional.of("its tokens are bytes (data.tokenizer = bytes), which the files of " + from
                                + ", from which the run began, do not make"))
                : new Found(Optional.of(Path.of(from)), Optional.empty());
    }
}
