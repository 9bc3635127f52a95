package dev.troupe.bench.text;

import dev.troupe.bench.MarkdownTable;
import dev.troupe.tokenizer.Tokenizer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** How many megabytes of text are encoded in a second? Prints the table of {@code bench/text/README.md}. */
@Command(name = "bench/text/run", mixinStandardHelpOptions = true, description = {
        "Measures tokenizers on texts: gpt2 (jtokkit), the same encoding as a tokenizer.json, and directories that are named."})
public final class TokenizerBenchmark implements Callable<Integer> {
    private static final int PIECE = 1 << 16;
    private static final long WARM_UP_NANOS = 3_000_000_000L;
    private static final long MEASURED_NANOS = 4_000_000_000L;

    @Option(names = "--tokenizer", paramLabel = "DIR", description = "A directory with a tokenizer.json. May be repeated.")
    private List<Path> directories = List.of();

    @Parameters(arity = "1..*", paramLabel = "FILE", description = "UTF-8 texts of some megabytes.")
    private List<Path> files;

    /** Measures and exits. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new TokenizerBenchmark()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException, ExecutionException {
        Path published = Files.createTempDirectory("troupe-gpt2-");
        MarkdownTable table = new MarkdownTable("text", "tokenizer", "bytes a token", "1 thread, MB/s",
                "2 threads, MB/s");
        try {
            PublishedGpt2.write(published);
            for (Path file : files) {
                String text = Files.readString(file);
                row(table, file, text, "gpt2, jtokkit", Tokenizer.named("gpt2"));
                row(table, file, text, "gpt2, tokenizer.json", Tokenizer.named(published.toString()));
                for (Path directory : directories) {
                    row(table, file, text, directory.getFileName().toString(), Tokenizer.named(directory.toString()));
                }
            }
        } finally {
            Files.deleteIfExists(published.resolve("tokenizer.json"));
            Files.delete(published);
        }
        System.out.print(table);
        return 0;
    }

    private static void row(MarkdownTable table, Path file, String text, String name, Tokenizer tokenizer)
            throws InterruptedException, ExecutionException {
        List<String> pieces = pieces(text, tokenizer);
        double bytes = text.getBytes(StandardCharsets.UTF_8).length;
        int ids = pieces.stream().mapToInt(piece -> tokenizer.encode(piece).length).sum();
        table.row(file.getFileName().toString(), name, shown(bytes / ids), shown(rate(tokenizer, pieces, bytes, 1)),
                shown(rate(tokenizer, pieces, bytes, 2)));
    }

    private static List<String> pieces(String text, Tokenizer tokenizer) {
        List<String> pieces = new ArrayList<>();
        int from = 0;
        for (int at = 1; at < text.length(); at++) {
            if (at - from >= PIECE && tokenizer.mayCut(text.charAt(at - 1), text.charAt(at))) {
                pieces.add(text.substring(from, at));
                from = at;
            }
        }
        pieces.add(text.substring(from));
        return pieces;
    }

    /** Returns the megabytes a second of some threads, once they are warm. */
    private static double rate(Tokenizer tokenizer, List<String> pieces, double bytes, int threads)
            throws InterruptedException, ExecutionException {
        rounds(tokenizer, pieces, threads, WARM_UP_NANOS);
        long begin = System.nanoTime();
        int rounds = rounds(tokenizer, pieces, threads, MEASURED_NANOS);
        return rounds * bytes / 1e6 / ((System.nanoTime() - begin) / 1e9);
    }

    private static int rounds(Tokenizer tokenizer, List<String> pieces, int threads, long nanos)
            throws InterruptedException, ExecutionException {
        int rounds = 0;
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            for (long end = System.nanoTime() + nanos; System.nanoTime() < end; rounds++) {
                AtomicInteger next = new AtomicInteger();
                List<Future<?>> working = new ArrayList<>();
                for (int thread = 0; thread < threads; thread++) {
                    working.add(executor.submit(() -> {
                        for (int i = next.getAndIncrement(); i < pieces.size(); i = next.getAndIncrement()) {
                            tokenizer.encode(pieces.get(i));
                        }
                    }));
                }
                for (Future<?> one : working) {
                    one.get();
                }
            }
        }
        return rounds;
    }

    private static String shown(double number) {
        return String.format(Locale.ROOT, "%.1f", number);
    }
}
