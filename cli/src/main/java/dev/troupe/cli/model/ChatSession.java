package dev.troupe.cli.model;

import dev.troupe.look.model.Generation;
import dev.troupe.look.model.GenerationQueue;
import dev.troupe.look.model.WrittenAnswer;
import dev.troupe.plan.UsageException;
import dev.troupe.rows.ChatPrompts.Turn;
import java.io.BufferedReader;
import java.io.Console;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A chat with a model, a line at a time. The whole chat is read again for each answer, so that the answer is that to the
 * chat as the template writes it.
 */
final class ChatSession {
    private static final int USUAL_TOKENS = 1024;

    private final Generation generation;
    private final int context;
    private final String system;
    private final Integer tokens;
    private final SamplingOptions sampling;
    private final PrintStream output;
    private final List<Turn> turns = new ArrayList<>();

    /**
     * @param context the most tokens of the whole chat
     * @param system the first message; may be null
     * @param tokens the most tokens of an answer; may be null
     */
    ChatSession(Generation generation, int context, String system, Integer tokens, SamplingOptions sampling,
            PrintStream output) {
        this.generation = generation;
        this.context = context;
        this.system = system;
        this.tokens = tokens;
        this.sampling = sampling;
        this.output = output;
    }

    /** Answers each line of an input until its end. A terminal gets a mark when a line can be typed. */
    void run(InputStream input) throws InterruptedException {
        begin();
        generation.tokensOfChat(with("Hello")); // refuses a model without a template before it reads the weights
        Console console = System.console();
        boolean isTerminal = console != null && console.isTerminal();
        try (GenerationQueue queue = generation.open(context, 1, 1)) {
            BufferedReader lines = new BufferedReader(new InputStreamReader(input, StandardCharsets.UTF_8));
            for (String line = read(lines, isTerminal); line != null; line = read(lines, isTerminal)) {
                switch (line.strip()) {
                    case "" -> {
                    }
                    case "/exit" -> {
                        return;
                    }
                    case "/new" -> begin();
                    default -> answer(queue, line);
                }
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private void begin() {
        turns.clear();
        if (system != null) {
            turns.add(new Turn("system", system));
        }
    }

    private String read(BufferedReader lines, boolean isTerminal) throws IOException {
        if (isTerminal) {
            output.print("> ");
            output.flush();
        }
        return lines.readLine();
    }

    private void answer(GenerationQueue queue, String line) throws InterruptedException {
        List<Turn> asked = with(line);
        int[] prompt;
        int most;
        try {
            prompt = generation.tokensOfChat(asked);
            most = tokens == null ? Math.clamp((long) context - prompt.length, 1, USUAL_TOKENS) : tokens;
            Generation.requireRoom(prompt.length, most, context);
        } catch (UsageException refused) {
            output.println("(" + refused.getMessage() + "; or begin again with /new)");
            return;
        }
        WrittenAnswer answer = queue.write(sampling.request(prompt, most, -1), piece -> {
            output.print(piece);
            output.flush();
        });
        output.println();
        turns.add(asked.getLast());
        turns.add(new Turn("assistant", answer.text()));
    }

    private List<Turn> with(String line) {
        List<Turn> all = new ArrayList<>(turns);
        all.add(new Turn("user", line));
        return all;
    }
}
