package dev.troupe.cli.model;

import dev.troupe.chat.ChatTemplate;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.data.Corpus;
import dev.troupe.data.CorpusFiles;
import dev.troupe.plan.UsageException;
import dev.troupe.tokenizer.Tokenizer;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe tokenize}: a token file of text, which trains as the text does, or the ids themselves. */
@Command(name = "tokenize", mixinStandardHelpOptions = true, description = {
        "Prints the token ids of text files, a line for each, or writes all of them as one .bin file, which trains to the same losses as the text: little-endian uint16, and above 65,536 tokens uint32 after a header.",
        "Each file is a document: a tokenizer that has an end-of-text token puts it between two in a .bin file, bytes nothing."})
public final class TokenizeCommand implements Callable<Integer> {
    private static final long SAID_EVERY_NANOS = 5_000_000_000L;

    @Option(names = "--tokenizer", paramLabel = "bytes|gpt2|DIR", required = true, description = {
            "bytes: one token a byte; gpt2: the byte-pair encoding of GPT-2; DIR: a directory in Hugging Face layout, of which the tokenizer.json is used."})
    private String tokenizer;

    @Option(names = "--out", paramLabel = "FILE.bin", description = {
            "The file to write, which must not be there yet. Without it the ids are printed."})
    private Path out;

    @Option(names = "--special-tokens", description = {
            "Adds the special tokens of the directory's post-processor to each text, such as one that begins it. Special tokens that are spelled in a text are found without it too."})
    private boolean withSpecial;

    @Option(names = "--json-strings", paramLabel = "FILE", description = {
            "Prints for each line of FILE, which is a JSON string, a JSON list of its ids."})
    private Path strings;

    @Option(names = "--json-chats", paramLabel = "FILE", description = {
            "Prints for each line of FILE, which is a JSON object with messages, a JSON list of the ids of what the directory's chat template makes of it. Other members are variables of the template, such as add_generation_prompt."})
    private Path chats;

    @Parameters(arity = "0..*", paramLabel = "FILE", description = {
            "UTF-8 text: files, folders (every file below, in the order of their names) and globs."})
    private List<Path> names = List.of();

    private final PrintStream output = System.out;
    private long saidNanos = System.nanoTime();

    @Override
    public Integer call() {
        if (Stream.of(!names.isEmpty(), strings != null, chats != null).filter(given -> given).count() != 1) {
            throw new UsageException(
                    "name text files, or give --json-strings or --json-chats a file: one of the three");
        }
        if (out != null && names.isEmpty()) {
            throw new UsageException("--out is for text files; --json-strings and --json-chats print ids");
        }
        Tokenizer chosen = Tokenizer.named(tokenizer, withSpecial);
        if (strings != null) {
            JsonLines.read(strings, "a JSON string", line -> {
                if (!line.isTextual()) {
                    return false;
                }
                printList(whole(chosen, line.textValue()));
                return true;
            });
        } else if (chats != null) {
            ChatTemplate template = ChatTemplate.of(Path.of(tokenizer));
            JsonLines.read(chats, "a JSON object with messages", line -> {
                if (!line.path("messages").isArray()) {
                    return false;
                }
                printList(chosen.encode(template.render(line)));
                return true;
            });
        } else if (out != null) {
            write(chosen);
        } else {
            print(chosen);
        }
        output.flush();
        return ExitCode.DONE;
    }

    private static int[] whole(Tokenizer chosen, String text) {
        return Stream.of(chosen.beforeText(), chosen.encode(text), chosen.afterText()).flatMapToInt(IntStream::of)
                .toArray();
    }

    private void printList(int[] ids) {
        output.println(Arrays.toString(ids));
    }

    private void print(Tokenizer chosen) {
        boolean[] isBegun = {false};
        Corpus.readDocuments(CorpusFiles.find(names), chosen, ids -> {
            if (ids.length == 0) {
                output.println();
                isBegun[0] = false;
                return;
            }
            output.print(IntStream.of(ids).mapToObj(Integer::toString)
                    .collect(Collectors.joining(" ", isBegun[0] ? " " : "", "")));
            isBegun[0] = true;
        });
    }

    private void write(Tokenizer chosen) {
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
