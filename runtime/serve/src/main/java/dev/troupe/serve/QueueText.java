package dev.troupe.serve;

import dev.troupe.look.model.GenerationQueue;

/** The numbers of a queue as text for Prometheus. */
final class QueueText {
    private QueueText() {
    }

    static String of(GenerationQueue.Counts counts) {
        return line("active", "gauge", "texts that are being written", counts.active())
                + line("waiting", "gauge", "texts that wait for a slot", counts.waiting())
                + line("ended_total", "counter", "texts that were written, cancelled or failed", counts.ended())
                + line("refused_total", "counter", "texts for which the queue had no room", counts.refused())
                + line("prompt_tokens_total", "counter", "tokens of prompts that were read", counts.promptTokens())
                + line("tokens_total", "counter", "tokens of texts that have ended", counts.tokens());
    }

    private static String line(String name, String type, String help, long value) {
        String full = "troupe_generation_" + name;
        return "# HELP " + full + " " + help + "\n# TYPE " + full + " " + type + "\n" + full + " " + value + "\n";
    }
}
