package dev.troupe.cli;

import dev.troupe.cli.stop.ExitCode;
import dev.troupe.data.Corpus;
import dev.troupe.data.CorpusFiles;
import dev.troupe.plan.UsageException;
import dev.troupe.tokenizer.Tokenizer;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe tokenize}: a token file of text, which trains as the text does. */
@Command(name = "tokenize", mixinStandardHelpOptions = true, description = {
        "Writes the tokens of text files as one .bin file of little-endian tokens, which trains to the same losses as the text.",
        "Each file is a document: gpt2 puts its end-of-text token between two, bytes nothing."})
final class TokenizeCommand implements Callable<Integer> {
    private static final long SAID_EVERY_NANOS = 5_000_000_000L;

    @Option(names = "--tokenizer", paramLabel = "bytes|gpt2", required = true, description = {
            "bytes: one token a byte; gpt2: the byte-pair encoding of GPT-2."})
    private String tokenizer;

    @Option(names = "--out", paramLabel = "FILE.bin", required = true, description = {
            "The file to write, which must not be there yet."})
    private Path out;

    @Parameters(arity = "1..*", paramLabel = "FILE", description = {
            "UTF-8 text: files, folders (every file below, in the order of their names) and globs."})
    private List<Path> names;

    private final PrintStream output = System.out;
    private long saidNanos = System.nanoTime();

    @Override
    public Integer call() {
        Tokenizer chosen = Tokenizer.named(tokenizer);
        if (!CorpusFiles.isTokenFile(out)) {
            throw new UsageException("--out must end in .bin, by which data.path knows tokens from text, but found "
                    + out);
        }
        CorpusFiles files = CorpusFiles.find(names);
        long begin = System.nanoTime();
        long count = Corpus.writeTokens(files, chosen, out, this::say);
        output.printf(Locale.ROOT, "%s: %,d tokens of %s (a vocabulary of %d) from %s, in %.1f s%n", out, count,
                chosen.name(), chosen.vocabularySize(), files.name(), (System.nanoTime() - begin) / 1e9);
        output.printf(Locale.ROOT, "Train on it with: ./troupe train -s data.path=%s -s model.vocabulary-size=%d%n",
                out,
                chosen.vocabularySize());
        return ExitCode.DONE;
    }

    /** Prints the progress now and then, for a text that takes minutes. */
    private void say(long count) {
        long now = System.nanoTime();
        if (now - saidNanos > SAID_EVERY_NANOS) {
            saidNanos = now;
            output.printf(Locale.ROOT, "%,d tokens so far%n", count);
            output.flush();
        }
    }
}
